#ifdef A
#else
int x;
