// `acu serve`, and the samplers that it starts.
#include "base/text.h"
#include "fleet/clickhouse_store.h"
#include "fleet/spool.h"
#include "monitor/sampler.h"
#include "net/crypto.h"
#include "net/http_client.h"
#include "net/private_file.h"
#include "session/arguments.h"
#include "session/signals.h"
#include "store/writer_lock.h"
#include "tool/add_user.h"
#include "tool/scripts.h"
#include "tool/store_options.h"
#include "tool/tool.h"
#include "web/serve.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

base::Status read_address(const std::string& text, web::ServeOptions& to) {
  ACU_CHECK(read_listen(text, to.address, to.port));
  if (!net::is_loopback(to.address) && !to.tls.are_named())
    return base::usage_error("`--listen " + text + "`: connections from other hosts must be encrypted\nhint: --tls-cert FILE --tls-key FILE; or stay on loopback, and ssh -L 7070:127.0.0.1:7070 HOST");
  return {};
}

base::Status read_access(const session::Arguments& arguments, web::ServeOptions& to) {
  ACU_TRY(to.tls, read_tls(arguments));
  to.token_file = arguments.text(OptionId::token_file);
  to.users = arguments.text(OptionId::users);
  if (arguments.has(OptionId::role)) return base::usage_error("--role is for --add-user NAME");
  if (const std::string* text = arguments.value(OptionId::login_time)) {
    if (to.users.empty()) return base::usage_error("--login-time is for the users of --users FILE");
    ACU_TRY(to.login_ns, session::read_time("--login-time", *text, 1'000'000'000));
  }
  return {};
}

base::Status read_push(const std::string& file, web::ServeOptions& to) {
  if (to.open_fleet) return base::usage_error("--push sends what this host records; the store of a fleet is only read");
  ACU_TRY(const std::string text, net::read_private("the servers of --push", file));
  ACU_TRY(to.push, push::read_targets(text, file));
  if (std::ranges::any_of(to.push, [](const push::Target& target) { return target.to.is_encrypted; })) ACU_CHECK(net::load_tls());
  return {};
}

base::Result<std::string> default_store() {
  ACU_TRY(const std::string folder, state_folder());
  return folder + "/store.db";
}

base::Result<web::ServeOptions> read_serve(const session::Arguments& arguments) {
  web::ServeOptions out;
  out.version = version_number();
  ACU_CHECK(read_access(arguments, out));
  if (const std::string* text = arguments.value(OptionId::listen)) ACU_CHECK(read_address(*text, out));
  if (const std::string* text = arguments.value(OptionId::store)) {
    out.store = *text;
  } else {
    ACU_TRY(out.store, default_store());
  }
  ACU_TRY(out.limits, read_limits(arguments));
  out.is_read_only = arguments.has(OptionId::read_only);
  out.audit = arguments.text(OptionId::audit);
  if (out.store.starts_with(fleet::address_scheme)) {
    ACU_TRY(const fleet::Address address, fleet::read_address(out.store));
    out.open_fleet = [address](const std::string& host) -> base::Result<std::unique_ptr<store::Store>> { return fleet::open_clickhouse(address, host); };
    out.store = address.shown();
    out.is_read_only = true; // a measurement would be of this host
    if (out.audit.empty()) {
      ACU_TRY(const std::string folder, state_folder());
      out.audit = folder + "/fleet.audit";
    }
  }
  if (const std::string* file = arguments.value(OptionId::push)) ACU_CHECK(read_push(*file, out));
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(const uint64_t ns, session::read_time("--max-duration", *text, 100'000'000));
    out.settings.max_seconds = static_cast<double>(ns) / 1e9;
  }
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(out.settings.max_cost, session::read_percent("--max-cost", *text));
  }
  out.settings.find_tool = [](const std::string& name) -> std::optional<bool> {
    const Script* script = find_script(name);
    return script ? std::optional(script->is_stopped) : std::nullopt;
  };
  for (const ListedTool& tool : listed_tools()) out.tools.push_back({std::string(tool.name), std::string(tool.group), tool.title});
  return out;
}

// `spool:FOLDER`: what an agent sends.
monitor::SamplerOptions sampler_options(const std::string& store) {
  if (!store.starts_with(fleet::spool_scheme))
    return {.own = [store](std::string_view source) { return store::lock_source(store, source); },
            .open = [store] { return store::open_sqlite(store, store::Mode::write); }};
  const std::string spool = store.substr(fleet::spool_scheme.size());
  return {.own = [spool](std::string_view source) { return store::lock_source(spool, source); }, .open = [spool] { return fleet::open_spool(spool); }};
}

base::Status sample(const std::string& what, const session::Arguments& arguments, const std::string& store) {
  monitor::SamplerOptions options = sampler_options(store);
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(options.duration_ns, session::read_time("--max-duration", *text));
  }
  if (what == monitor::host_sampler) return monitor::sample_host(options);
  for (const monitor::StoredKind& kind : monitor::stored_kinds)
    if (kind.name == what) return monitor::sample_stacks(kind, options);
  return base::usage_error("`--sample " + what + "` is not recorded all the time");
}

} // namespace

base::Result<std::string> state_folder() {
  std::string folder = "/var/lib/acu";
  if (::geteuid() != 0) {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    if (state && state[0] == '/')
      folder = std::string(state) + "/acu";
    else if (home && home[0] == '/')
      folder = std::string(home) + "/.local/state/acu";
    else
      return base::usage_error("neither XDG_STATE_HOME nor HOME is set: name files with --store FILE or --spool FOLDER");
  }
  std::error_code failed;
  const bool is_new = std::filesystem::create_directories(folder, failed);
  if (failed) return base::errno_error("cannot make the folder `" + folder + "`", failed.value());
  if (is_new) ::chmod(folder.c_str(), 0700);
  return folder;
}

base::Result<web::TlsFiles> read_tls(const session::Arguments& arguments) {
  web::TlsFiles out = {std::string(arguments.text(OptionId::tls_cert)), std::string(arguments.text(OptionId::tls_key))};
  if (out.certificate.empty() != out.key.empty()) return base::usage_error("--tls-cert and --tls-key belong together: the certificate, and its private key");
  return out;
}

base::Status read_listen(const std::string& text, std::string& address, uint16_t& port) {
  const size_t colon = text.rfind(':');
  const auto number = colon == text.npos ? std::nullopt : base::parse_integer(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon == text.npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!number || *number > 65535 || host.empty()) return base::usage_error("`--listen` takes an address and a port (127.0.0.1:7070, [::1]:7070), not `" + text + "`");
  address = host, port = static_cast<uint16_t>(*number);
  return {};
}

int serve(const session::Arguments& arguments) {
  if (!arguments.words.empty()) return refuse_word("serve", arguments.words[0]);
  if (arguments.has(OptionId::add_user)) {
    auto added = add_user(arguments);
    return added.ok() ? 0 : fail(added.error());
  }
  auto options = read_serve(arguments);
  if (!options.ok()) return fail(options.error());
  const std::string* what = arguments.value(OptionId::sample);
  auto ended = what ? sample(*what, arguments, options->store) : web::serve(*options);
  return ended.ok() ? 0 : fail(ended.error());
}

} // namespace tool
