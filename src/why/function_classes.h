// What functions of well-known libraries and of the kernel are for: the slot `class` of the fact hot-function. A function belongs to a class by its name, or
// by the file that it is in.
#pragma once

#include <string_view>

namespace why {

struct FunctionClass {
  std::string_view name;
  std::string_view begins;  // beginnings of names of functions, separated by |
  std::string_view parts;   // parts of names
  std::string_view modules; // beginnings of names of files
};

// The first that fits counts. Sources: the exported and internal names of glibc 2.36, PCRE 8 and 10, RE2 2023, Oniguruma 6.9, CPython 3.8 to 3.13 (_sre, _json,
// _pickle), PHP 8 (ext/pcre, ext/json), RapidJSON, nlohmann's JSON, protobuf 3, libgcc, Linux 6.
inline constexpr FunctionClass function_classes[] = {
    {"regex", "sre_ucs1_|sre_ucs2_|sre_ucs4_|pcre_exec|pcre2_match|pcre2_jit_match|onig_match|onig_search|match_at|"
              "re_search_internal|regexec|sift_states_backward|S_regmatch|S_regtry|Perl_regexec_flags",
     "std::__detail::_Executor|re2::DFA|re2::NFA|re2::Prog|re2::BitState|boost::re_detail", "libpcre|libre2|libonig"},
    {"serialization", "scanstring_unicode|_parse_object_unicode|encoder_listencode_obj|encoder_listencode_dict|encoder_listencode_list|py_encode_basestring_ascii|scan_once_unicode|"
                      "save_|load_counted_|php_json_parser|php_json_encode|php_var_serialize|php_var_unserialize|yaml_parser_|yaml_emitter_|json_|cJSON_|yyjson_|msgpack_|xmlParse",
     "nlohmann::json_abi|rapidjson::|google::protobuf::|simdjson::|Json::Reader|Json::StreamWriter|serde_json::", "libjson|libyajl|libprotobuf|libyaml|libmsgpack|libjansson"},
    {"spin", "native_queued_spin_lock_slowpath|queued_spin_lock_slowpath|pv_queued_spin_lock_slowpath|_raw_spin_lock|pthread_spin_lock|__pthread_spin_lock|osq_lock|mutex_spin_on_owner|rwsem_spin_on_owner",
     "spin_lock|spinlock|SpinLock", ""},
    {"poll", "ep_poll|do_epoll_wait|ep_send_events|do_sys_poll|do_poll|do_select|epoll_wait|ppoll|poll|__poll|select|__select|epoll_pwait|pselect", "", ""},
    {"path", "link_path_walk|path_openat|path_lookupat|filename_lookup|lookup_fast|d_lookup|__d_lookup_rcu|walk_component|getname_flags|do_filp_open|vfs_statx", "", ""},
    {"unwind", "_Unwind_|uw_frame_state_for|uw_update_context|uw_install_context|_dl_find_object|__gxx_personality|__cxa_throw|execute_cfa_program", "", ""},
    {"copy", "memcpy|__memcpy|memmove|__memmove|copy_user_|_copy_to_user|_copy_from_user|rep_movs_alternative|copy_page", "", ""},
    {"hash", "hash_|siphash|xxh|XXH", "std::_Hash_bytes|CityHash|MurmurHash", ""},
    {"allocation", "malloc|_int_malloc|free|_int_free|cfree|realloc|calloc|tcache_|unlink_chunk|malloc_consolidate|je_|tc_", "operator new|operator delete", "libjemalloc|libtcmalloc|libmimalloc"},
};

} // namespace why
