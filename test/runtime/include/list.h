// For whoever defines ITEM.
ITEM(red)
ITEM(green)
ITEM(blue)
