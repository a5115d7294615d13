// The table of builtins' lowerings: for each row of spec/builtins.h what becomes of it. One row a builtin; a missing one
// does not compile, nor does one that lacks the form in which its builtin is used. A builtin becomes a few operations;
// lowerings that take more than a line are members of Lowering, in the file of their family.
#include "ir/lowering.h"

#include "spec/arch.h"
#include "spec/complete_table.h"
#include "spec/numbers.h"
#include "spec/syscalls.h"

#include <cassert>
#include <type_traits>

namespace ir {

using namespace lang;

struct Lowering::Builtins {
  // ------------------------------------------------------------------------------------- rows by their form
  using Value = Operand (*)(Lowering&, const Expr&);
  using Into = void (*)(Lowering&, const Expr&, const Place& to, const Type& as, bool pad);
  using Run = void (*)(Lowering&, const Call&);
  using Add = void (Lowering::*)(const Aggregation&);
  using Bucket = Operand (Lowering::*)(const Type&, Operand n);

  static constexpr BuiltinLowering number(std::string_view name, Value value) { return {.name = name, .value = value}; }
  static constexpr BuiltinLowering bytes(std::string_view name, Into into) { return {.name = name, .into = into}; }
  // A number that stands for a text; where the text itself is wanted, that.
  static constexpr BuiltinLowering number_or_bytes(std::string_view name, Value value, Into into) {
    return {.name = name, .value = value, .into = into};
  }
  static constexpr BuiltinLowering effect(std::string_view name, Run run) { return {.name = name, .run = run}; }
  static constexpr BuiltinLowering aggregation(std::string_view name, Add add, Bucket bucket = nullptr) {
    return {.name = name, .add = add, .bucket = bucket};
  }
  // Other kinds of expressions, constants, or values with a recipe by now.
  static constexpr BuiltinLowering replaced(std::string_view name) { return {.name = name, .is_replaced = true}; }
  // The check was all.
  static constexpr BuiltinLowering checked(std::string_view name) { return {.name = name, .run = [](Lowering&, const Call&) {}}; }

  // -------------------------------------------------------------------------------------- members as functions
  // A member of Lowering takes the expression or the call, or just its arguments, or nothing of it.
  template<auto lower, class... More>
  static constexpr bool takes = std::is_invocable_v<decltype(lower), Lowering&, const Call&, More...> ||
                                std::is_invocable_v<decltype(lower), Lowering&, List<Expr*>, More...> ||
                                std::is_invocable_v<decltype(lower), Lowering&, More...>;
  template<auto lower> static auto call(Lowering& l, const Expr& e, const auto&... more) {
    using Member = decltype(lower);
    if constexpr (std::is_invocable_v<Member, Lowering&, const Expr&, decltype(more)...>)
      return (l.*lower)(e, more...);
    else if constexpr (std::is_invocable_v<Member, Lowering&, const Call&, decltype(more)...>)
      return (l.*lower)(as<Call>(e), more...);
    else if constexpr (std::is_invocable_v<Member, Lowering&, List<Expr*>, decltype(more)...>)
      return (l.*lower)(arguments_of(e), more...);
    else
      return (l.*lower)(more...);
  }
  template<auto lower> static Operand by(Lowering& l, const Expr& e) { return call<lower>(l, e); }
  template<auto lower> static void into(Lowering& l, const Expr& e, const Place& to, const Type& as, bool pad) {
    if constexpr (takes<lower, const Place&, const Type&, bool>)
      call<lower>(l, e, to, as, pad);
    else if constexpr (takes<lower, const Place&, const Type&>)
      call<lower>(l, e, to, as);
    else
      call<lower>(l, e, to);
  }
  template<auto lower> static void run(Lowering& l, const Call& c) { (l.*lower)(c); }

  // -------------------------------------------------------------------------------- functions of several rows
  static const Expr& argument(const Expr& e) { return *as<Call>(e).arguments[0]; }
  static Operand first(Lowering& l, const Expr& e) { return l.scalar(argument(e)); } // a number as it is

  template<Query query> static Operand ask(Lowering& l, const Expr&) { return l.query(query); }
  template<Query query> static Operand low_half(Lowering& l, const Expr&) {
    return l.emit(Op::zext, l.query(query), {}, 4);
  }
  template<MemoryQuestion question> static Operand memory(Lowering& l, const Expr& e) {
    return l.ask_memory(question, argument(e));
  }
  template<const spec::NumberNames& names>
  static void number_name(Lowering& l, const Expr& e, const Place& to, const Type& as, bool) {
    l.number_name_into(names, lang::as<Call>(e), to, as);
  }
  template<ActionKind kind> static void formatted(Lowering& l, const Call& c) { l.send_formatted(kind, c); }
  template<ActionKind kind> static void map_action(Lowering& l, const Call& c) { l.send_map_action(kind, c); }

  static const BuiltinLowering rows[spec::builtin_count]; // in the order of spec/builtins.h
  static consteval const BuiltinLowering& row_of(spec::BuiltinId id);
  // The name of a builtin whose row lacks the form in which it is used, or nothing.
  static consteval std::string_view without_form();
};

// clang-format off
constexpr Lowering::BuiltinLowering Lowering::Builtins::rows[] = {
    // The event and who caused it.
    bytes("args", into<&Lowering::arguments_into>),
    number("ctx", [](Lowering& l, const Expr&) { return l.emit(Op::context_address); }),
    number("retval", [](Lowering& l, const Expr& e) { return l.function_result(*e.type); }),
    replaced("locals"),
    replaced("target"),
    replaced("entry"),
    number_or_bytes("func", by<&Lowering::function_name>,
                    [](Lowering& l, const Expr&, const Place& to, const Type& as, bool) { l.probe_text_into(to, as, true); }),
    number_or_bytes("probe", [](Lowering& l, const Expr&) { return l.event_name(false); },
                    [](Lowering& l, const Expr&, const Place& to, const Type& as, bool) { l.probe_text_into(to, as, false); }),
    replaced("probetype"),
    number("pid", [](Lowering& l, const Expr& e) { return l.emit(Op::lshr, l.process_ids(arguments_of(e)), l.number(32)); }),
    number("tid", [](Lowering& l, const Expr& e) { return l.emit(Op::zext, l.process_ids(arguments_of(e)), {}, 4); }),
    number("ppid", by<&Lowering::parent_pid>),
    number("leader_tid", by<&Lowering::leader_tid>),
    bytes("comm", into<&Lowering::thread_name_into>),
    bytes("pcomm", into<&Lowering::parent_name_into>),
    bytes("leader_comm", into<&Lowering::leader_name_into>),
    number("uid", low_half<Query::uid_gid>),
    number("gid", [](Lowering& l, const Expr&) { return l.emit(Op::lshr, l.query(Query::uid_gid), l.number(32)); }),
    number("username", low_half<Query::uid_gid>),
    number("cpu", ask<Query::cpu>),
    number("ncpus", [](Lowering& l, const Expr&) { return l.number(l.options_.possible_cpus); }),
    number("numaid", ask<Query::numa_node>),
    number("cpid", by<&Lowering::command_pid>),
    replaced("has_cpid"),
    number("curtask", ask<Query::task>),
    number("cgroup", ask<Query::cgroup_id>),
    bytes("container", into<&Lowering::container_into>),
    number("in_cgroup", by<&Lowering::in_cgroup>),
    number("pid_ns", by<&Lowering::pid_namespace_number>),
    number("nspid", [](Lowering& l, const Expr&) { return l.innermost_id(true); }),
    number("nstid", [](Lowering& l, const Expr&) { return l.innermost_id(false); }),
    bytes("trace_id", [](Lowering& l, const Expr&, const Place& to, const Type& as, bool) { l.thread_context_into(false, to, as); }),
    bytes("span_id", [](Lowering& l, const Expr&, const Place& to, const Type& as, bool) { l.thread_context_into(true, to, as); }),
    number("usermode", by<&Lowering::is_user_mode>),
    number("rand", ask<Query::random>),
    number("reg", [](Lowering& l, const Expr& e) { return l.machine_register(argument(e).constant.text_value); }),
    number("ureg", [](Lowering& l, const Expr& e) { return l.user_register(argument(e).constant.text_value); }),

    // Time.
    number("nsecs", by<&Lowering::clock>),
    number("elapsed", [](Lowering& l, const Expr&) {
      return l.emit(Op::sub, l.query(Query::ktime_boot), l.number(static_cast<int64_t>(l.options_.start_ns)));
    }),
    number("jiffies", ask<Query::jiffies>),
    effect("time", run<&Lowering::send_time>),
    bytes("strftime", into<&Lowering::time_text_into>),

    // Memory.
    bytes("str", into<&Lowering::text_into>),
    bytes("buf", into<&Lowering::bytes_into>),
    replaced("try"),
    number("valid", by<&Lowering::is_valid>),
    number("next_chunk", memory<MemoryQuestion::next_chunk>),
    number("chunk", memory<MemoryQuestion::chunk>),
    number("chunk_size", memory<MemoryQuestion::chunk_size>),
    number("next_area", memory<MemoryQuestion::next_area>),
    number("area_end", memory<MemoryQuestion::area_end>),
    number("kptr", first),
    number("uptr", first),
    number("kaddr", by<&Lowering::kernel_address>),
    number("percpu_kaddr", by<&Lowering::kernel_variable>),
    replaced("uaddr"),
    bytes("path", into<&Lowering::path_into>),
    number("memcmp", by<&Lowering::compare_bytes>),
    number("container_of", [](Lowering& l, const Expr& e) {
      const Operand member = first(l, e);
      return l.emit(Op::sub, member, l.scalar(*as<Call>(e).arguments[1]));
    }),
    number("is_err", [](Lowering& l, const Expr& e) { return l.set(Cond::uge, first(l, e), l.number(-4095)); }),

    // Text.
    number("strncmp", by<&Lowering::compare_prefix>),
    number("strlen", [](Lowering& l, const Expr& e) { return l.text_length(argument(e)); }),
    number("strcontains", [](Lowering& l, const Expr& e) { return l.set(Cond::sge, l.find_text(as<Call>(e)), l.number(0)); }),
    number("strstr", by<&Lowering::find_text>),
    bytes("str_concat", into<&Lowering::joined_text_into>),
    number("strrstr", by<&Lowering::find_last>),
    bytes("substr", into<&Lowering::part_of_text_into>),
    replaced("strcap"),
    replaced("default_str_length"),
    checked("assert_str"),
    number("globmatch", by<&Lowering::match_glob>),
    number("match", by<&Lowering::match_regex>),
    bytes("strerror", number_name<spec::error_texts>),
    bytes("signal_name", number_name<spec::signal_texts>),
    bytes("syscall_name", number_name<spec::syscall_names>),
    number("bswap", [](Lowering& l, const Expr& e) {
      return l.emit(Op::bswap, first(l, e), {}, static_cast<uint8_t>(e.type->size));
    }),

    // Maps.
    {.name = "delete",
     .value = [](Lowering& l, const Expr& e) { return l.remove(as<Call>(e), false); },
     .run = [](Lowering& l, const Call& c) { l.remove(c, true); }},
    number("has_key", by<&Lowering::has_key>),
    number("find", by<&Lowering::find_into>),
    number("len", by<&Lowering::length>),
    number("p50", by<&Lowering::percentile>),
    number("p90", by<&Lowering::percentile>),
    number("p95", by<&Lowering::percentile>),
    number("p99", by<&Lowering::percentile>),
    number("p999", by<&Lowering::percentile>),
    number("percentile", by<&Lowering::percentile>),
    effect("clear", map_action<ActionKind::clear>),
    effect("zero", map_action<ActionKind::zero>),

    // Aggregations.
    aggregation("count", &Lowering::add_number),
    aggregation("sum", &Lowering::add_number),
    aggregation("min", &Lowering::keep_smaller),
    aggregation("max", &Lowering::keep_larger),
    aggregation("avg", &Lowering::add_counted),
    aggregation("stats", &Lowering::add_counted),
    aggregation("hist", &Lowering::add_to_bucket, &Lowering::power_bucket),
    aggregation("lhist", &Lowering::add_to_bucket, &Lowering::step_bucket),
    aggregation("tseries", &Lowering::add_to_series),

    // Output.
    {.name = "printf", .run = run<&Lowering::print_formatted>, .writes_text = true},
    effect("errorf", formatted<ActionKind::errorf>),
    effect("warnf", formatted<ActionKind::warnf>),
    effect("debugf", formatted<ActionKind::debugf>),
    effect("print", run<&Lowering::send_print>),
    effect("flame", run<&Lowering::send_flame>),
    effect("cat", formatted<ActionKind::cat>),
    effect("join", run<&Lowering::send_list>),
    effect("system", formatted<ActionKind::system>),
    effect("exit", run<&Lowering::send_exit>),
    replaced("carry"),
    replaced("resume"),
    effect("commit", run<&Lowering::commit>),
    effect("discard", run<&Lowering::discard>),

    // Stacks, symbols and other names.
    number("kstack", [](Lowering& l, const Expr& e) { return l.stack(*e.type); }),
    number("task_kstack", [](Lowering& l, const Expr& e) { return l.stack(*e.type, first(l, e)); }),
    bytes("ustack", [](Lowering& l, const Expr& e, const Place& to, const Type&, bool) { l.user_stack_into(to, *e.type); }),
    bytes("dw_ustack", [](Lowering& l, const Expr& e, const Place& to, const Type&, bool) { l.user_stack_into(to, *e.type); }),
    bytes("stack", [](Lowering& l, const Expr& e, const Place& to, const Type&, bool) { l.both_stacks_into(to, *e.type); }),
    number("ksym", first),
    bytes("usym", into<&Lowering::user_symbol_into>),
    bytes("cgroup_path", into<&Lowering::cgroup_path_into>),

    // Network.
    bytes("ntop", into<&Lowering::inet_into>),
    replaced("pton"),
    bytes("macaddr", into<&Lowering::mac_into>),
    number("skboutput", by<&Lowering::send_packet>),
    number("socket_cookie", [](Lowering& l, const Expr& e) { return l.emit(Op::socket_cookie, first(l, e)); }),

    // Effects on the traced program.
    effect("signal", [](Lowering& l, const Call& c) { l.send_signal(c, false); }),
    effect("signal_thread", [](Lowering& l, const Call& c) { l.send_signal(c, true); }),
    effect("override", run<&Lowering::override_result>),
    number("write_user", by<&Lowering::write_user>),
    effect("unwatch", run<&Lowering::send_unwatch>),

    // Decided when the script is compiled.
    replaced("sizeof"),
    checked("typeof"),
    checked("typeinfo"),
    bytes("config", into<&Lowering::config_into>),
    replaced("offsetof"),
    replaced("cgroupid"),
    replaced("kfunc_exist"),
    replaced("kfunc_allowed"),
    replaced("getopt"),
    checked("fail"),
    checked("static_assert"),
    effect("assert", run<&Lowering::send_assert>),
    replaced("is_ptr"),
    replaced("is_str"),
    replaced("is_integer"),
    replaced("is_unsigned_integer"),
    replaced("is_array"),
    replaced("is_scalar"),
    replaced("is_literal"),
    replaced("has_type"),
    replaced("has_field"),
    replaced("has_func"),
    replaced("has_var"),
};
// clang-format on

consteval const Lowering::BuiltinLowering& Lowering::Builtins::row_of(spec::BuiltinId id) {
  return rows[spec::row_places<spec::builtins, rows>[id]];
}

consteval std::string_view Lowering::Builtins::without_form() {
  for (const spec::Builtin& b : spec::builtins) {
    const BuiltinLowering& how = row_of(spec::id_of(b));
    const bool is_aggregation = b.group == spec::Group::aggregation;
    const bool has_form = is_aggregation                      ? how.add != nullptr
                          : b.gives == spec::Gives::nothing ? how.run != nullptr
                          : b.gives == spec::Gives::comm    ? how.into != nullptr
                          : b.gives == spec::Gives::special ? how.value || how.into
                                                            : how.value != nullptr;
    if (!has_form && !how.is_replaced) return b.name;
  }
  return {};
}

template<spec::RowName name> struct MissingForm {
  static_assert(name.is_empty(), "a builtin's lowering does not give what its declaration says: `name`");
};

// ----------------------------------------------------------------------------------------- uses of the table

// A builtin for its effect; false: it gives a value, which a statement may leave unused.
bool Lowering::run_builtin(const Call& c, bool is_statement) {
  [[maybe_unused]] MissingForm<Builtins::without_form()> missing;
  return spec::with_constant<spec::builtin_count>(spec::id_of(*c.builtin), [&]<size_t id>() {
    constexpr BuiltinLowering how = Builtins::row_of(id);
    if constexpr (how.run == nullptr) return false;
    if constexpr (how.value != nullptr)
      if (!is_statement) return false;
    if constexpr (how.run != nullptr) {
      if (is_pinned_ && spec::builtins[id].async && !how.writes_text)
        refuse_in_file(c);
      else
        how.run(*this, c);
    }
    return true;
  });
}

// A builtin's value that is a number.
Operand Lowering::builtin(const Expr& e) {
  return spec::with_constant<spec::builtin_count>(spec::id_of(*builtin_of(e)), [&]<size_t id>() {
    constexpr auto value = Builtins::row_of(id).value;
    if constexpr (value != nullptr) return value(*this, e);
    assert(!"the checker takes this builtin for a number");
    return number(0);
  });
}

// A builtin's value that is not a number.
void Lowering::builtin_into(const Expr& e, const Place& to, const Type& as, bool pad) {
  spec::with_constant<spec::builtin_count>(spec::id_of(*builtin_of(e)), [&]<size_t id>() {
    constexpr auto into = Builtins::row_of(id).into;
    if constexpr (into != nullptr) return into(*this, e, to, as, pad);
    assert(!"the checker takes this builtin for text or bytes");
  });
}

// The bucket of a number in an aggregation that has buckets, else nothing.
Operand Lowering::bucket(const spec::Builtin& row, const Type& t, Operand n) {
  return spec::with_constant<spec::builtin_count>(spec::id_of(row), [&]<size_t id>() {
    constexpr auto bucket = Builtins::row_of(id).bucket;
    if constexpr (bucket != nullptr) return (this->*bucket)(t, n);
    return Operand();
  });
}

void Lowering::add_to(const spec::Builtin& row, const Aggregation& a) {
  spec::with_constant<spec::builtin_count>(spec::id_of(row), [&]<size_t id>() {
    constexpr auto add = Builtins::row_of(id).add;
    if constexpr (add != nullptr) (this->*add)(a);
  });
}

} // namespace ir
