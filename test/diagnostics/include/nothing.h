// Nothing at all.
