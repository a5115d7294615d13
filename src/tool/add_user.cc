// Passwords are never arguments: other users can read those.
#include "tool/add_user.h"

#include "base/text.h"
#include "tool/tool.h"
#include "net/crypto.h"
#include "web/users.h"

#include <bsd/readpassphrase.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

// A line without its end.
base::Result<std::string> read_line() {
  std::string out;
  char c = 0;
  while (out.size() <= web::longest_password) {
    const ssize_t n = ::read(STDIN_FILENO, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_error("cannot read the password from standard input", errno);
    if (n == 0 || c == '\n') break;
    out += c;
  }
  if (out.ends_with('\r')) out.pop_back();
  return out;
}

base::Result<std::string> ask(const char* prompt) {
  char text[web::longest_password + 2];
  if (!::readpassphrase(prompt, text, sizeof text, RPP_ECHO_OFF | RPP_REQUIRE_TTY)) return base::errno_error("cannot read the password from the terminal", errno);
  std::string out(text);
  ::explicit_bzero(text, sizeof text);
  return out;
}

base::Result<std::string> read_password(const std::string& name) {
  if (!::isatty(STDIN_FILENO)) return read_line();
  ACU_TRY(std::string password, ask(("Password for " + name + ": ").c_str()));
  ACU_TRY(const std::string again, ask("The same again: "));
  if (password != again) return base::usage_error("the two passwords differ");
  return password;
}

} // namespace

base::Status add_user(const session::Arguments& arguments) {
  const std::string name = *arguments.value(OptionId::add_user), file(arguments.text(OptionId::users));
  const std::string* role_name = arguments.value(OptionId::role);
  const auto role = role_name ? web::find_role(*role_name) : std::nullopt;
  if (file.empty() || !role) return base::usage_error("--add-user needs a file and a role: acu serve --users FILE --add-user " + base::printable(name.substr(0, 64)) + " --role view|measure|admin");
  ACU_CHECK(net::load_passwords());
  ACU_TRY(std::string password, read_password(base::printable(name.substr(0, 64))));
  auto written = web::write_user(file, name, *role, password);
  ::explicit_bzero(password.data(), password.size());
  if (written.ok()) say("`" + name + "` has the role " + *role_name + " in `" + file + "`; a running acu serve reads it on SIGHUP\n");
  return written;
}

} // namespace tool
