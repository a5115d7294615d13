// A server that answers a request every half millisecond and leaks the session of every fourth.
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>

struct Session {
  char state[1000];
};

static std::map<int, Session*> sessions;

__attribute__((noipa)) static std::map<std::string, std::string> parse_request(int number) {
  return {{"path", "/item/" + std::to_string(number)}, {"agent", std::string(60, 'a')}, {"accept", std::string(40, 'b')}};
}

__attribute__((noipa)) static void remember_session(int number) {
  Session* session = static_cast<Session*>(std::malloc(sizeof(Session)));
  std::memset(session, number, sizeof *session);
  sessions[number % 64] = session; // leaks the previous session in this slot
}

__attribute__((noipa)) static void answer(int number) {
  const auto request = parse_request(number);
  std::string page(2000, ' ');
  page += request.at("path");
  if (number % 4 == 0) remember_session(number);
}

int main() {
  for (int number = 0;; number++) {
    answer(number);
    usleep(500);
  }
}
