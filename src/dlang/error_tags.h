// The names that DTrace's compiler gives its errors (`-x errtags` prints them in front of messages). A mistake that one of them describes has it as its
// tag; others have acu's tags (spec/diagnostics.h), whose nearest names are in a table here.
#pragma once

#include "spec/diagnostics.h"

#include <string_view>

namespace dlang {

namespace d_tag {
inline constexpr std::string_view int_oflow = "D_INT_OFLOW", int_digit = "D_INT_DIGIT", str_nl = "D_STR_NL", chr_nl = "D_CHR_NL", chr_null = "D_CHR_NULL",
                                  chr_oflow = "D_CHR_OFLOW", pragerr = "D_PRAGERR", pragctl_inval = "D_PRAGCTL_INVAL", pragma_inval = "D_PRAGMA_INVAL",
                                  pragma_malform = "D_PRAGMA_MALFORM", pragma_optset = "D_PRAGMA_OPTSET", macro_undef = "D_MACRO_UNDEF", macro_unused = "D_MACRO_UNUSED",
                                  pdesc_inval = "D_PDESC_INVAL", pred_scalar = "D_PRED_SCALAR", ident_undef = "D_IDENT_UNDEF", var_undef = "D_VAR_UNDEF",
                                  proto_len = "D_PROTO_LEN", proto_arg = "D_PROTO_ARG", op_int = "D_OP_INT", op_scalar = "D_OP_SCALAR", op_arith = "D_OP_ARITH",
                                  op_write = "D_OP_WRITE", op_lval = "D_OP_LVAL", op_incompat = "D_OP_INCOMPAT", op_sou = "D_OP_SOU", op_dyn = "D_OP_DYN", op_act = "D_OP_ACT",
                                  div_zero = "D_DIV_ZERO", deref_nonptr = "D_DEREF_NONPTR", addrof_var = "D_ADDROF_VAR", addrof_lval = "D_ADDROF_LVAL",
                                  cast_inval = "D_CAST_INVAL", xlate_none = "D_XLATE_NONE", xlate_memb = "D_XLATE_MEMB", xlate_redecl = "D_XLATE_REDECL",
                                  stringof_type = "D_STRINGOF_TYPE", offsetof_type = "D_OFFSETOF_TYPE", args_idx = "D_ARGS_IDX", key_type = "D_KEY_TYPE",
                                  arr_badref = "D_ARR_BADREF", arr_local = "D_ARR_LOCAL", agg_redef = "D_AGG_REDEF", agg_func = "D_AGG_FUNC", agg_null = "D_AGG_NULL",
                                  agg_comm = "D_AGG_COMM", agg_spec = "D_AGG_SPEC", agg_scalar = "D_AGG_SCALAR", comm_comm = "D_COMM_COMM", comm_drec = "D_COMM_DREC",
                                  spec_spec = "D_SPEC_SPEC", spec_comm = "D_SPEC_COMM", spec_drec = "D_SPEC_DREC", act_spec = "D_ACT_SPEC", exit_spec = "D_EXIT_SPEC",
                                  drec_comm = "D_DREC_COMM", printf_arg_fmt = "D_PRINTF_ARG_FMT", printf_arg_type = "D_PRINTF_ARG_TYPE",
                                  printf_arg_proto = "D_PRINTF_ARG_PROTO", printf_arg_extra = "D_PRINTF_ARG_EXTRA", printf_agg_conv = "D_PRINTF_AGG_CONV",
                                  printf_dyn_type = "D_PRINTF_DYN_TYPE", printf_fmt_empty = "D_PRINTF_FMT_EMPTY", printa_proto = "D_PRINTA_PROTO",
                                  printa_aggkey = "D_PRINTA_AGGKEY", trace_dyn = "D_TRACE_DYN", print_dyn = "D_PRINT_DYN", tracemem_size = "D_TRACEMEM_SIZE", stack_size = "D_STACK_SIZE",
                                  ustack_frames = "D_USTACK_FRAMES", lquant_baseval = "D_LQUANT_BASEVAL", lquant_limval = "D_LQUANT_LIMVAL",
                                  lquant_basetype = "D_LQUANT_BASETYPE", lquant_limtype = "D_LQUANT_LIMTYPE", lquant_steptype = "D_LQUANT_STEPTYPE",
                                  lquant_mismatch = "D_LQUANT_MISMATCH", lquant_stepval = "D_LQUANT_STEPVAL", lquant_stepsmall = "D_LQUANT_STEPSMALL",
                                  lquant_steplarge = "D_LQUANT_STEPLARGE", lquant_matchbase = "D_LQUANT_MATCHBASE", lquant_matchlim = "D_LQUANT_MATCHLIM",
                                  lquant_matchstep = "D_LQUANT_MATCHSTEP", llquant_factortype = "D_LLQUANT_FACTORTYPE", llquant_lmagtype = "D_LLQUANT_LMAGTYPE",
                                  llquant_hmagtype = "D_LLQUANT_HMAGTYPE", llquant_steptype = "D_LLQUANT_STEPTYPE", llquant_factorval = "D_LLQUANT_FACTORVAL",
                                  llquant_lmagval = "D_LLQUANT_LMAGVAL", llquant_hmagval = "D_LLQUANT_HMAGVAL", llquant_stepval = "D_LLQUANT_STEPVAL",
                                  llquant_matchfactor = "D_LLQUANT_MATCHFACTOR", llquant_matchlmag = "D_LLQUANT_MATCHLMAG", llquant_matchhmag = "D_LLQUANT_MATCHHMAG",
                                  llquant_matchsteps = "D_LLQUANT_MATCHSTEPS", decl_badclass = "D_DECL_BADCLASS", decl_arrsub = "D_DECL_ARRSUB",
                                  decl_arrnull = "D_DECL_ARRNULL", decl_idred = "D_DECL_IDRED", decl_bftype = "D_DECL_BFTYPE", decl_bfsize = "D_DECL_BFSIZE",
                                  decl_bfconst = "D_DECL_BFCONST", decl_enconst = "D_DECL_ENCONST", decl_combo = "D_DECL_COMBO", decl_charattr = "D_DECL_CHARATTR",
                                  decl_voidattr = "D_DECL_VOIDATTR", decl_signint = "D_DECL_SIGNINT", decl_longint = "D_DECL_LONGINT", decl_voidobj = "D_DECL_VOIDOBJ",
                                  decl_incomplete = "D_DECL_INCOMPLETE", decl_locassc = "D_DECL_LOCASSC", proc_badpid = "D_PROC_BADPID", proc_grab = "D_PROC_GRAB",
                                  proc_name = "D_PROC_NAME", stack_proto = "D_STACK_PROTO", ustack_proto = "D_USTACK_PROTO", ustack_strsize = "D_USTACK_STRSIZE",
                                  printa_aggarg = "D_PRINTA_AGGARG", normalize_scalar = "D_NORMALIZE_SCALAR", trunc_scalar = "D_TRUNC_SCALAR";
} // namespace d_tag

// Actions on aggregations, whose errors have names of their own.
struct AggregationTags {
  std::string_view action, proto, argument, unknown;
};
inline constexpr AggregationTags aggregation_tags[] = {
    {"printa", "D_PRINTA_PROTO", "D_PRINTA_AGGARG", "D_PRINTA_AGGBAD"},
    {"clear", "D_CLEAR_PROTO", "D_CLEAR_AGGARG", "D_CLEAR_AGGBAD"},
    {"trunc", "D_TRUNC_PROTO", "D_TRUNC_AGGARG", "D_TRUNC_AGGBAD"},
    {"normalize", "D_NORMALIZE_PROTO", "D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
    {"denormalize", "D_NORMALIZE_PROTO", "D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
};

struct NearestTag {
  std::string_view tag, name;
};
inline constexpr NearestTag nearest_tags[] = {
    {spec::tag::syntax, "D_SYNTAX"},           {spec::tag::empty_program, "D_EMPTY"},       {spec::tag::unknown_field, "D_TYPE_MEMBER"},    {spec::tag::unknown_type, "D_TYPE_ERR"},
    {spec::tag::no_such_probe, "D_PDESC_ZERO"}, {spec::tag::unknown_provider, "D_PDESC_ZERO"}, {spec::tag::bad_probe, "D_PDESC_INVAL"},     {spec::tag::too_many_probes, "D_PDESC_INVAL"},
    {spec::tag::wrong_argument_count, "D_PROTO_LEN"}, {spec::tag::bad_argument, "D_PROTO_ARG"}, {spec::tag::unknown_name, "D_IDENT_UNDEF"}, {spec::tag::unknown_function, "D_FUNC_UNDEF"},
    {spec::tag::type_mismatch, "D_OP_INCOMPAT"}, {spec::tag::bad_cast, "D_CAST_INVAL"},      {spec::tag::bad_operand, "D_OP_SCALAR"},        {spec::tag::bad_format, "D_PRINTF_ARG_TYPE"},
    {spec::tag::unterminated_comment, "D_SYNTAX"}, {spec::tag::bad_character, "D_SYNTAX"},   {spec::tag::bad_escape, "D_SYNTAX"},            {spec::tag::bad_config, "D_PRAGMA_OPTSET"},
};

// Of a diagnostic: DTrace's name of the mistake.
constexpr std::string_view error_tag(std::string_view tag) {
  if (tag.starts_with("D_")) return tag;
  for (const NearestTag& n : nearest_tags)
    if (n.tag == tag) return n.name;
  return "D_UNKNOWN";
}

} // namespace dlang
