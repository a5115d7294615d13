/* A library whose only difference to the same with another ROOM is the size of its frame. */
void call_back(void (*function)(void)) {
  volatile char room[ROOM];
  room[0] = 1;
  function();
  room[ROOM - 1] = 1;
}
