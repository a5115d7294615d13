// `acu agent` and `acu collect`.
#include "base/text.h"
#include "fleet/agent.h"
#include "fleet/collector.h"
#include "fleet/spool.h"
#include "net/crypto.h"
#include "net/private_file.h"
#include "session/arguments.h"
#include "session/options.h"
#include "tool/sizes.h"
#include "tool/store_options.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

namespace {

// http://HOST[:PORT] or https://HOST[:PORT]
base::Result<net::Endpoint> read_collector(const std::string& text) {
  constexpr uint16_t usual_port = 7071;
  auto url = net::read_url(text, usual_port);
  if (!url || (!url->target.empty() && url->target != "/")) return base::usage_error("`--to` takes the address of a collector (https://collector:7071, http://127.0.0.1:7071), not `" + text + "`");
  return std::move(url->to);
}

base::Result<fleet::AgentOptions> read_agent(const session::Arguments& arguments) {
  fleet::AgentOptions out;
  const std::string *to = arguments.value(OptionId::to), *token = arguments.value(OptionId::token_file);
  if (!to || !token) return base::usage_error("acu agent needs a collector and a token: --to http://HOST:7071 --token-file FILE");
  ACU_TRY(out.to, read_collector(*to));
  if (out.to.is_encrypted) ACU_CHECK(net::load_tls());
  if (const std::string* authorities = arguments.value(OptionId::tls_ca)) {
    if (!out.to.is_encrypted) return base::usage_error("--tls-ca is for a collector with https://");
    ACU_CHECK(base::read_file(*authorities));
    out.to.authorities = *authorities;
  }
  ACU_TRY(out.token, read_token(*token));
  if (const std::string* text = arguments.value(OptionId::spool)) {
    out.spool = *text;
  } else {
    ACU_TRY(const std::string folder, state_folder());
    out.spool = folder + "/spool";
  }
  if (const std::string* text = arguments.value(OptionId::max_size)) {
    ACU_TRY(out.max_bytes, read_bytes("--max-size", *text));
  }
  return out;
}

base::Result<fleet::CollectorOptions> read_collect(const session::Arguments& arguments) {
  fleet::CollectorOptions out;
  const std::string *store = arguments.value(OptionId::store), *agents = arguments.value(OptionId::agents);
  if (!store || !agents) return base::usage_error("acu collect needs a store and the tokens of agents: --store clickhouse://HOST/DATABASE --agents FILE");
  ACU_TRY(out.store, fleet::read_address(*store));
  out.agents = *agents;
  ACU_TRY(out.tls, read_tls(arguments));
  if (const std::string* text = arguments.value(OptionId::listen)) ACU_CHECK(read_listen(*text, out.address, out.port));
  for (auto [id, name, to] : {std::tuple{OptionId::keep, "--keep", &out.keep.seconds}, {OptionId::keep_fine, "--keep-fine", &out.keep.fine_seconds}})
    if (const std::string* text = arguments.value(id)) {
      ACU_TRY(const uint64_t ns, session::read_time(name, *text, 86400 * uint64_t{1'000'000'000}));
      *to = static_cast<int64_t>(ns / 1'000'000'000);
    }
  return out;
}

template<class Read, class Run> int run_with(std::string_view name, const session::Arguments& arguments, Read read, Run run) {
  if (!arguments.words.empty()) return refuse_word(name, arguments.words[0]);
  auto options = read(arguments);
  if (!options.ok()) return fail(options.error());
  auto ended = run(*options);
  return ended.ok() ? 0 : fail(ended.error());
}

} // namespace

base::Result<std::string> read_token(const std::string& path) {
  constexpr size_t max_bytes = 512;
  ACU_TRY(const std::string text, net::read_private("the token file", path, max_bytes));
  const std::string token(base::trim(text));
  if (token.empty() || token.find_first_of(" \t\r\n") != token.npos) return base::usage_error("the token file `" + path + "` does not have exactly one token");
  return token;
}

int agent(const session::Arguments& arguments) { return run_with("agent", arguments, read_agent, fleet::run_agent); }
int collect(const session::Arguments& arguments) { return run_with("collect", arguments, read_collect, fleet::collect); }

} // namespace tool
