// Functions of OpenSSL and libsodium that acu's code and Boost.Asio's headers call, by library. One that is used and missing here is an undefined symbol
// for the linker. `X(NAME)` is expanded for each.
#pragma once

// libcrypto.so.3
#define ACU_CRYPTO_NAMES(X) \
  X(ASN1_STRING_get0_data) X(ASN1_STRING_length) X(ASN1_TIME_to_tm) X(BIO_ctrl) X(BIO_ctrl_pending) X(BIO_free) X(BIO_free_all) X(BIO_new_bio_pair) \
  X(BIO_new_mem_buf) X(BIO_read) X(BIO_write) X(CRYPTO_free) X(ERR_clear_error) X(ERR_get_error) X(ERR_peek_last_error) X(ERR_reason_error_string) \
  X(EVP_PKEY_free) X(GENERAL_NAMES_free) X(GENERAL_NAME_get0_value) X(OPENSSL_cleanse) X(OPENSSL_sk_num) X(OPENSSL_sk_value) X(PEM_read_bio_PrivateKey) \
  X(PEM_read_bio_X509) X(PEM_read_bio_X509_AUX) X(X509_STORE_CTX_get_current_cert) X(X509_STORE_CTX_get_error_depth) X(X509_STORE_CTX_get_ex_data) \
  X(X509_check_host) X(X509_check_ip_asc) X(X509_check_private_key) X(X509_free) X(X509_get0_notAfter) X(X509_get0_notBefore) X(X509_get_ext_d2i) \
  X(X509_verify_cert_error_string)

// libssl.so.3
#define ACU_SSL_NAMES(X) \
  X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_get0_certificate) X(SSL_CTX_get_default_passwd_cb_userdata) X(SSL_CTX_get_ex_data) \
  X(SSL_CTX_get_verify_callback) X(SSL_CTX_load_verify_locations) X(SSL_CTX_new) X(SSL_CTX_set_cipher_list) X(SSL_CTX_set_default_passwd_cb_userdata) \
  X(SSL_CTX_set_ex_data) X(SSL_CTX_set_options) X(SSL_CTX_set_verify) X(SSL_CTX_up_ref) X(SSL_CTX_use_PrivateKey) X(SSL_CTX_use_certificate) \
  X(SSL_accept) X(SSL_connect) X(SSL_ctrl) X(SSL_free) X(SSL_get_error) X(SSL_get_ex_data) X(SSL_get_ex_data_X509_STORE_CTX_idx) X(SSL_get_shutdown) \
  X(SSL_get_verify_mode) X(SSL_get_verify_result) X(SSL_new) X(SSL_read) X(SSL_set_bio) X(SSL_set_ex_data) X(SSL_set_verify) X(SSL_shutdown) \
  X(SSL_write) X(TLS_client_method) X(TLS_server_method)

// libsodium.so.23
#define ACU_SODIUM_NAMES(X) \
  X(crypto_pwhash_str) X(crypto_pwhash_str_needs_rehash) X(crypto_pwhash_str_verify) X(randombytes_buf) X(sodium_init)
