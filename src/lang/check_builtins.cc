// The table of builtins' checks: for each row of spec/builtins.h what checks a use of it and gives its type. One row a
// builtin; a missing one does not compile. Checks that take more than a line are members of Checker, in the file of
// their family.
#include "lang/checker.h"

#include "spec/complete_table.h"
#include "spec/numbers.h"
#include "spec/syscalls.h"
#include "spec/thread_context.h"

#include <algorithm>
#include <type_traits>

namespace lang {

using type::Kind;

struct Checker::Builtins {
  using Result = const type::Type*;

  // A member of Checker, of an expression, a name or a call; one that gives nothing leaves the type to spec/builtins.h.
  template<auto check> static Result by(Checker& c, Expr& e) {
    auto run = [&]() -> decltype(auto) {
      using Check = decltype(check);
      if constexpr (std::is_invocable_v<Check, Checker&, Expr&>)
        return (c.*check)(e);
      else if constexpr (std::is_invocable_v<Check, Checker&, Name&>)
        return (c.*check)(as<Name>(e));
      else
        return (c.*check)(as<Call>(e));
    };
    if constexpr (std::is_void_v<decltype(run())>)
      return run(), nullptr;
    else
      return run();
  }
  template<auto check> static Result by_whole(Checker& c, Call& e) { return (c.*check)(e); }

  template<Kind kind> static Result simple(Checker& c, Expr&) { return c.types_.simple(kind); }
  template<Kind kind> static Result stack(Checker& c, Expr& e) { return c.check_stack(kind, arguments_of(e)); }
  template<const spec::NumberNames& names> static Result number_name(Checker& c, Expr& e) {
    return c.check_number_name(as<Call>(e), names);
  }
  // So many bytes, in hexadecimal digits.
  template<uint32_t bytes> static Result thread_context(Checker& c, Expr&) {
    c.program_.reads_thread_contexts = true;
    return c.types_.string(2 * bytes + 1);
  }
  // Of numbers with the sign of those that are put in.
  template<Kind kind> static Result aggregation(Checker& c, Expr& e) { return c.types_.simple(kind, argument(e).type->is_signed); }
  static Result time_text(Checker& c, Expr& e) {
    const Expr& time = *as<Call>(e).arguments[1];
    if (time.constant.kind == Constant::integer && time.constant.integer_value < 0 && time.type->is_signed)
      c.error(spec::tag::bad_argument, time.where, "a time can't be negative");
    return c.types_.simple(Kind::timestamp);
  }
  // The pointer, taken to point there; a number points to numbers.
  template<type::Space space> static Result pointer(Checker& c, Expr& e) {
    const type::Type* t = argument(e).type;
    return c.types_.pointer(t->is(Kind::pointer) ? t->element : c.types_.uint64(), space);
  }
  // What the compiler knows of an expression.
  template<bool (*answer)(const Expr&)> static Result question(Checker& c, Expr& e) {
    c.set_integer(e, answer(argument(e)));
    return nullptr;
  }
  // The parser makes another kind of expression of it.
  static Result parsed(Checker&, Expr&) { return nullptr; }

  static Expr& argument(Expr& e) { return *as<Call>(e).arguments[0]; }
  static void check_task(Checker& c, Expr& e, std::string_view name) {
    if (!arguments_of(e).empty()) c.check_task(*arguments_of(e)[0], name);
  }

  // In the order of spec/builtins.h. Those with a name alone are checked by what is declared there.
  static const BuiltinCheck rows[spec::builtin_count];
  static consteval const BuiltinCheck& row_of(spec::BuiltinId id);
  // The name of a builtin that lacks the check of its type, or nothing.
  static consteval std::string_view without_check();
};

// clang-format off
constexpr Checker::BuiltinCheck Checker::Builtins::rows[] = {
    // The event and who caused it.
    {"args", by<&Checker::check_arguments>},
    {"ctx", [](Checker& c, Expr&) { return c.context_type(); }},
    {"retval", [](Checker& c, Expr& e) -> Result { return e.kind == ExprKind::name ? c.check_result(as<Name>(e)) : nullptr; }},
    {"locals", [](Checker& c, Expr& e) { return c.check_without_member(e, "locals"); }},
    {"target", [](Checker& c, Expr& e) { return c.check_without_member(e, "target"); }},
    {"entry", by<&Checker::check_misplaced_entry>},
    {"func", by<&Checker::function_name_type>},
    {"probe", by<&Checker::check_probe_name>},
    {"probetype", by<&Checker::check_probe_type>},
    {"pid", by<&Checker::check_namespace>},
    {"tid", by<&Checker::check_namespace>},
    {"ppid", [](Checker& c, Expr& e) -> Result { return check_task(c, e, "ppid"), nullptr; }},
    {"leader_tid", [](Checker& c, Expr& e) -> Result { return check_task(c, e, "leader_tid"), nullptr; }},
    {"comm"},
    {"pcomm", [](Checker& c, Expr& e) -> Result { return check_task(c, e, "pcomm"), nullptr; }},
    {"leader_comm", [](Checker& c, Expr& e) -> Result { return check_task(c, e, "leader_comm"), nullptr; }},
    {"uid"},
    {"gid"},
    {"username", simple<Kind::username>},
    {"cpu"},
    {"ncpus"},
    {"numaid"},
    {"cpid"},
    {"has_cpid", [](Checker& c, Expr& e) -> Result { return c.set_integer(e, c.options_.has_cpid), nullptr; }},
    {"curtask", by<&Checker::check_current_task>},
    {"cgroup"},
    {"container", simple<Kind::cgroup_path>},
    {"in_cgroup", by<&Checker::check_in_cgroup>},
    {"pid_ns"},
    {"nspid"},
    {"nstid"},
    {"trace_id", thread_context<sizeof spec::ThreadContextRecord::trace_id>},
    {"span_id", thread_context<sizeof spec::ThreadContextRecord::span_id>},
    {"usermode", [](Checker& c, Expr& e) -> Result {
       return c.probe_ ? nullptr : c.mistake(spec::tag::misplaced, e.where, "`usermode` can't be used in a function", "pass its value as a parameter");
     }},
    {"rand"},
    {"reg", by<&Checker::check_register>},
    {"ureg", by<&Checker::check_register>},

    // Time.
    {"nsecs"},
    {"elapsed"},
    {"jiffies"},
    {"time"},
    {"strftime", time_text},

    // Memory.
    {"str", by<&Checker::check_str>, by_whole<&Checker::check_str_call>},
    {"buf", by<&Checker::check_buf>},
    {"try", parsed},
    {"valid"},
    {"next_chunk"},
    {"chunk"},
    {"chunk_size"},
    {"next_area"},
    {"area_end"},
    {"kptr", pointer<type::Space::kernel>},
    {"uptr", pointer<type::Space::user>},
    {"kaddr", [](Checker& c, Expr&) { return c.types_.pointer(c.types_.uint64(), type::Space::kernel); }},
    {"percpu_kaddr", by<&Checker::check_cpu_variable>},
    {"uaddr", by<&Checker::check_user_address>},
    {"path", by<&Checker::check_path>},
    {"memcmp", by<&Checker::check_memcmp>},
    {"container_of", by<&Checker::check_container_of>},
    {"is_err"},

    // Text.
    {"strncmp", by<&Checker::check_strncmp>},
    {"strlen"},
    {"strcontains"},
    {"strstr"},
    {"str_concat", by<&Checker::check_str_concat>},
    {"strrstr"},
    {"substr", by<&Checker::check_substr>},
    {"strcap", by<&Checker::check_strcap>},
    {"default_str_length", [](Checker& c, Expr& e) -> Result {
       return c.set_integer(e, static_cast<int64_t>(c.program_.config.number("max_strlen"))), nullptr;
     }},
    {"assert_str", by<&Checker::check_assert_str>},
    {"globmatch"},
    {"match", by<&Checker::check_match>},
    {"strerror", number_name<spec::error_texts>},
    {"signal_name", number_name<spec::signal_texts>},
    {"syscall_name", number_name<spec::syscall_names>},
    {"bswap", [](Checker& c, Expr& e) { return c.types_.integer(std::max(1u, argument(e).type->size), false); }},

    // Maps.
    {"delete", by<&Checker::check_delete>},
    {"has_key", by<&Checker::check_has_key>},
    {"find", by<&Checker::check_find>},
    {"len", by<&Checker::check_len>},
    {"p50", nullptr, by_whole<&Checker::check_percentile>},
    {"p90", nullptr, by_whole<&Checker::check_percentile>},
    {"p95", nullptr, by_whole<&Checker::check_percentile>},
    {"p99", nullptr, by_whole<&Checker::check_percentile>},
    {"p999", nullptr, by_whole<&Checker::check_percentile>},
    {"percentile", nullptr, by_whole<&Checker::check_percentile>},
    {"clear"},
    {"zero"},

    // Aggregations.
    {"count", [](Checker& c, Expr&) { return c.types_.simple(Kind::count, true); }},
    {"sum", aggregation<Kind::sum>},
    {"min", aggregation<Kind::min>},
    {"max", aggregation<Kind::max>},
    {"avg", aggregation<Kind::avg>},
    {"stats", aggregation<Kind::stats>},
    {"hist", by<&Checker::check_hist>},
    {"lhist", by<&Checker::check_lhist>},
    {"tseries", by<&Checker::check_series>},

    // Output.
    {"printf", by<&Checker::check_format>},
    {"errorf", by<&Checker::check_format>},
    {"warnf", by<&Checker::check_format>},
    {"debugf", by<&Checker::check_format>},
    {"print", nullptr, by_whole<&Checker::check_print>},
    {"flame"},
    {"cat", by<&Checker::check_format>},
    {"join"},
    {"system", by<&Checker::check_format>},
    {"exit"},
    {"carry", by<&Checker::check_misplaced_carry>},
    {"resume", by<&Checker::check_misplaced_carry>},
    {"commit", by<&Checker::check_decision>},
    {"discard", by<&Checker::check_decision>},

    // Stacks, symbols and other names.
    {"kstack", stack<Kind::kstack>},
    {"task_kstack", [](Checker& c, Expr& e) {
       check_task(c, e, "task_kstack");
       c.check_vouched(argument(e), "task_kstack");
       return c.check_stack(Kind::kstack, {});
     }},
    {"ustack", stack<Kind::ustack>},
    {"dw_ustack", [](Checker& c, Expr& e) {
       c.use_unstable("unstable_dw_ustack", e.where, "dw_ustack");
       return c.check_stack(Kind::ustack, arguments_of(e));
     }},
    {"stack", stack<Kind::stack>},
    {"ksym", simple<Kind::ksym>},
    {"usym", simple<Kind::usym>},
    {"cgroup_path", simple<Kind::cgroup_path>},

    // Network.
    {"ntop", by<&Checker::check_ntop>},
    {"pton", by<&Checker::check_pton>},
    {"macaddr", by<&Checker::check_macaddr>},
    {"skboutput", by<&Checker::check_skboutput>},
    {"socket_cookie", by<&Checker::check_socket_cookie>},

    // Effects on the traced program.
    {"signal", [](Checker& c, Expr& e) -> Result { return c.check_signal(argument(e)), nullptr; }},
    {"signal_thread", [](Checker& c, Expr& e) -> Result { return c.check_signal(argument(e)), nullptr; }},
    {"override"},
    {"write_user", by<&Checker::check_write_user>},
    {"unwatch"},

    // Decided when the script is compiled.
    {"sizeof", parsed},
    {"typeof", parsed},
    {"typeinfo", parsed},
    {"config", by<&Checker::check_config>},
    {"offsetof", parsed},
    {"cgroupid", by<&Checker::check_cgroup_id>},
    {"kfunc_exist", by<&Checker::check_kfunc_exist>},
    {"kfunc_allowed", by<&Checker::check_kfunc_allowed>},
    {"getopt", by<&Checker::check_getopt>},
    {"fail", by<&Checker::check_fail>},
    {"static_assert", by<&Checker::check_static_assert>},
    {"assert"},
    {"is_ptr", question<[](const Expr& e) { return e.type->is(Kind::pointer); }>},
    {"is_str", question<[](const Expr& e) { return e.type->is(Kind::string); }>},
    {"is_integer", question<[](const Expr& e) { return e.type->is(Kind::integer); }>},
    {"is_unsigned_integer", question<[](const Expr& e) { return e.type->is(Kind::integer) && !e.type->is_signed; }>},
    {"is_array", question<[](const Expr& e) { return e.type->is(Kind::array); }>},
    {"is_scalar", by<&Checker::check_is_scalar>},
    {"is_literal", question<[](const Expr& e) {
       const Unary* u = if_a<Unary>(&e);
       const Expr& x = u && u->op == UnaryOp::negate ? *u->operand : e; // -1 is a literal, too
       return x.kind == ExprKind::integer || (&x == &e && (x.kind == ExprKind::string || x.kind == ExprKind::boolean));
     }>},
    {"has_type", by<&Checker::check_has_type>},
    {"has_field", by<&Checker::check_has_field>},
    {"has_func", by<&Checker::check_has_function>},
    {"has_var", by<&Checker::check_has_variable>},
};
// clang-format on

consteval const Checker::BuiltinCheck& Checker::Builtins::row_of(spec::BuiltinId id) {
  return rows[spec::row_places<spec::builtins, rows>[id]];
}

consteval std::string_view Checker::Builtins::without_check() {
  for (const spec::Builtin& b : spec::builtins)
    if (b.gives == spec::Gives::special && !row_of(spec::id_of(b)).result) return b.name;
  return {};
}

template<spec::RowName name> struct MissingCheck {
  static_assert(name.is_empty(), "a builtin that gives something special has no check: `name`");
};

// What the builtin's check says of the type of its value; nullptr: as declared.
const type::Type* Checker::special_type(Expr& e, const spec::Builtin& row) {
  [[maybe_unused]] MissingCheck<Builtins::without_check()> missing;
  return spec::with_constant<spec::builtin_count>(spec::id_of(row), [&]<size_t id>() -> const type::Type* {
    constexpr auto check = Builtins::row_of(id).result;
    if constexpr (check != nullptr) return check(*this, e);
    return nullptr;
  });
}

// nullptr: parameters are as declared.
const type::Type* Checker::check_whole(Call& e, const spec::Builtin& row) {
  return spec::with_constant<spec::builtin_count>(spec::id_of(row), [&]<size_t id>() -> const type::Type* {
    constexpr auto check = Builtins::row_of(id).whole;
    if constexpr (check != nullptr) return check(*this, e);
    return nullptr;
  });
}

} // namespace lang
