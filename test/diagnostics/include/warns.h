#warning this header is old
