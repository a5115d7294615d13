#include "web/users.h"

#include "base/output_file.h"
#include "base/text.h"
#include "net/crypto.h"
#include "net/private_file.h"

#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <vector>

namespace web {

namespace {

constexpr std::string_view what = "the file of users";

// Names are in messages, addresses and the audit.
bool is_name(std::string_view text) {
  constexpr size_t longest = 64;
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '@'; });
}

// Empty: the hash can be used. What it costs to check is limited: the file says how much memory and time that takes.
std::string why_not(const std::string& hash) {
  constexpr uint64_t least_memory = 8 << 10, most_memory = 1 << 20, most_passes = 20; // KiB
  const std::vector<std::string_view> parts = base::split(hash, '$');
  if (parts.size() != 6 || parts[1] != "argon2id") return "the hash is not one of argon2id ($argon2id$v=19$m=…,t=…,p=…$SALT$HASH)";
  const std::vector<std::string_view> costs = base::split(parts[3], ',');
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < costs.size() && i < 3; i++)
    if (costs[i].size() > 2 && costs[i][0] == "mtp"[i] && costs[i][1] == '=')
      if (const auto number = base::parse_integer(costs[i].substr(2))) numbers.push_back(*number);
  if (costs.size() != 3 || numbers.size() != 3) return "the hash is damaged: `" + base::printable(parts[3].substr(0, 60)) + "` is not m=…,t=…,p=…";
  if (numbers[0] < least_memory || numbers[0] > most_memory || numbers[1] < 1 || numbers[1] > most_passes) return "the hash needs " + std::to_string(numbers[0]) + " KiB and " + std::to_string(numbers[1]) + " passes; taken are 8192 to 1048576 KiB and 1 to 20 passes";
  if (hash.size() >= crypto_pwhash_STRBYTES || ::crypto_pwhash_str_needs_rehash(hash.c_str(), crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE) < 0) return "the hash is damaged";
  return {};
}

// The words of a line; none: it is empty, or a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  line = base::trim(line);
  if (line.starts_with('#')) return out;
  while (!line.empty()) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    out.push_back(line.substr(0, end));
    line = base::trim(line.substr(end));
  }
  return out;
}

base::Result<Users> parse_users(const std::string& path, std::string_view text) {
  Users out;
  std::map<std::string, size_t, std::less<>> lines;
  size_t number = 0;
  for (std::string_view line : base::split(text, '\n')) {
    number++;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    const std::string where = "`" + path + "`, line " + std::to_string(number) + ": ", name(words[0]), shown = base::printable(name.substr(0, 64));
    auto wrong = [&](const std::string& why, std::string_view next) { return base::usage_error(where + why + "\nhint: " + std::string(next)); };
    const std::string again = "acu serve --users " + path + " --add-user " + (is_name(name) ? name : "NAME") + " --role view|measure|admin";
    if (words.size() != 3) return wrong("not NAME ROLE HASH", again);
    if (!is_name(name)) return wrong("`" + shown + "` is not a valid user name", "up to 64 letters, digits and . _ - @");
    const std::optional<Role> role = find_role(words[1]);
    if (!role) return wrong("`" + base::printable(words[1].substr(0, 64)) + "` is not a role", "view, measure or admin");
    if (const std::string why = why_not(std::string(words[2])); !why.empty()) return wrong(why, again);
    if (const auto [at, is_new] = lines.try_emplace(name, number); !is_new) return wrong("the user `" + shown + "` is also in line " + std::to_string(at->second), "remove one of the two lines");
    out[name] = {*role, std::string(words[2])};
  }
  return out;
}

base::Result<std::string> hash_of(std::string_view password) {
  char out[crypto_pwhash_STRBYTES];
  if (::sodium_init() < 0 || ::crypto_pwhash_str(out, password.data(), password.size(), crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE) != 0)
    return base::Error{base::Failure::runtime, "cannot make the hash of the password: no memory (64 MiB)"};
  return std::string(out);
}

} // namespace

base::Result<Users> read_users(const std::string& path) {
  ACU_CHECK(net::load_passwords());
  auto text = net::read_private(std::string(what), path);
  if (!text.ok()) {
    if (::access(path.c_str(), F_OK) != 0) text.error().message += "\nhint: acu serve --users " + path + " --add-user NAME --role admin";
    return std::move(text.error());
  }
  ACU_TRY(Users out, parse_users(path, *text));
  if (out.empty()) return base::usage_error("`" + path + "` has no users: nobody could log in\nhint: acu serve --users " + path + " --add-user NAME --role admin");
  return out;
}

base::Status write_user(const std::string& path, const std::string& name, Role role, std::string_view password) {
  ACU_CHECK(net::load_passwords());
  if (!is_name(name)) return base::usage_error("`" + base::printable(name.substr(0, 64)) + "` is not a valid user name\nhint: up to 64 letters, digits and . _ - @");
  if (password.size() < shortest_password) return base::usage_error("the password has fewer than 8 characters");
  if (password.size() > longest_password) return base::usage_error("the password has more than 1024 bytes");
  std::string text;
  if (::access(path.c_str(), F_OK) == 0) {
    ACU_TRY(text, net::read_private(std::string(what), path));
    ACU_TRY(const Users known, parse_users(path, text));
  } else if (errno != ENOENT) {
    return base::errno_error("cannot read " + std::string(what) + ", `" + path + "`", errno);
  }
  ACU_TRY(const std::string hash, hash_of(password));
  const std::string own = name + " " + std::string(name_of(role)) + " " + hash + "\n";
  std::string out = text.empty() ? "# Users of acu serve: NAME ROLE HASH\n" : "";
  bool is_written = false;
  for (std::string_view line : base::split(text, '\n')) {
    if (line.data() + line.size() == text.data() + text.size() && line.empty()) break; // behind the last line
    const std::vector<std::string_view> words = words_of(line);
    if (!words.empty() && words[0] == name)
      out += own, is_written = true;
    else
      out += std::string(line) + "\n";
  }
  return base::write_file(path, is_written ? out : out + own);
}

bool is_password(const std::string& hash, std::string_view password) {
  return net::load_passwords().ok() && ::sodium_init() >= 0 && hash.size() < crypto_pwhash_STRBYTES && ::crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

const std::string& nobodys_hash() {
  static const std::string hash = [] {
    if (!net::load_passwords().ok()) return std::string();
    char random[32];
    ::randombytes_buf(random, sizeof random);
    auto made = hash_of({random, sizeof random});
    return made.ok() ? *made : std::string();
  }();
  return hash;
}

} // namespace web
