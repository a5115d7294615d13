// `acu policy`: whether the policy of this host can be read, and what it permits to a user.
#include "policy/policy.h"

#include "base/counted.h"
#include "base/privilege.h"
#include "policy/enforce.h"
#include "session/arguments.h"
#include "tool/tool.h"

#include <unistd.h>

namespace tool {

namespace {

// Messages of a policy without a file are no failure: nothing is restricted then.
bool is_missing(const std::string& file) { return !base::is_accessible(file.c_str(), F_OK); }

int show(const ::policy::Policy& read, const session::Arguments& arguments) {
  const std::string* name = arguments.value(spec::OptionId::user);
  const ::policy::Caller own = ::policy::caller();
  if (!name && own.user == 0) return say("root is not bound by a policy; `--user USER` shows what it permits to others\n"), 0;
  auto whom = name ? ::policy::caller_called(*name) : base::Result<::policy::Caller>(own);
  if (!whom.ok()) return fail(whom.error());
  if (name && whom->user == 0) return say("root is not bound by a policy, but by `acu --policy FILE`\n"), 0;
  return say(::policy::describe(read, *whom)), 0;
}

} // namespace

int policy(const session::Arguments& arguments) {
  const std::string verb = arguments.words.size() == 1 ? arguments.words[0] : "";
  if (verb != "check" && verb != "show") return refuse("`acu policy` takes check or show (see `acu help policy`)");
  const std::string* given = arguments.value(spec::OptionId::input);
  const std::string file = given ? *given : ::policy::given_file().empty() ? std::string(::policy::usual_file) : ::policy::given_file();
  if (!given && ::policy::given_file().empty() && is_missing(file)) return say("there is no " + file + ": nothing is restricted\n"), 0;
  if (given) // messages quote the file
    if (const base::Status given_up = ::policy::give_up_rights(); !given_up.ok()) return fail(given_up.error());
  const auto read = ::policy::load(file);
  if (!read.ok()) return fail(read.error());
  if (verb == "show") return show(*read, arguments);
  return say(file + ": " + base::counted(read->rules.size(), "rule") + ", no mistakes\n"), 0;
}

} // namespace tool
