#error do not include this
