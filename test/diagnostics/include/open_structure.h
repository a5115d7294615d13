struct broken {
  int a;
