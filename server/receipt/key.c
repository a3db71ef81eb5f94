#include "server/receipt/key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/file.h"
#include "validator/arena.h"
#include "validator/sha256.h"

enum { RAW_PUBLIC = 32, PEM_ROOM = 256, READ_ROOM = 256 * 1024 };

struct receipt_key {
    EVP_PKEY *pair;
    char id[RECEIPT_KEY_ID + 1];
    char public_pem[PEM_ROOM];
};

static void free_bio(BIO **bio)
{
    BIO_free(*bio);
}
#define BIO_SCOPE __attribute__((cleanup(free_bio)))

static void free_context(EVP_MD_CTX **context)
{
    EVP_MD_CTX_free(*context);
}
#define CONTEXT_SCOPE __attribute__((cleanup(free_context)))

static bool describe(struct receipt_key *key)
{
    unsigned char raw[RAW_PUBLIC];
    char hex[SHA256_HEX + 1];
    size_t size = sizeof raw;
    char *pem = NULL;
    BIO *bio BIO_SCOPE = BIO_new(BIO_s_mem());
    if (!bio || EVP_PKEY_get_raw_public_key(key->pair, raw, &size) != 1 || size != sizeof raw ||
        PEM_write_bio_PUBKEY(bio, key->pair) != 1)
        return false;
    long length = BIO_get_mem_data(bio, &pem);
    if (length <= 0 || (size_t)length >= sizeof key->public_pem)
        return false;
    memcpy(key->public_pem, pem, (size_t)length);
    key->public_pem[length] = '\0';
    sha256_hex(raw, sizeof raw, hex);
    memcpy(key->id, hex, RECEIPT_KEY_ID);
    key->id[RECEIPT_KEY_ID] = '\0';
    return true;
}

/* Takes PAIR, which may be NULL. */
static struct receipt_key *wrap(EVP_PKEY *pair, const char *otherwise, const char **problem)
{
    if (!pair) {
        *problem = otherwise;
        return NULL;
    }
    struct receipt_key *key = memory_grow(NULL, sizeof *key);
    *key = (struct receipt_key){.pair = pair};
    if (EVP_PKEY_get_base_id(pair) == EVP_PKEY_ED25519 && describe(key))
        return key;
    *problem = "is a key of another kind than Ed25519";
    receipt_key_free(key);
    return NULL;
}

struct receipt_key *receipt_key_generate(void)
{
    const char *problem;
    return wrap(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), "", &problem);
}

/* A service has nobody to ask for a pass phrase; the library would ask the terminal. */
static int no_pass_phrase(char *text, int room, int writing, void *context)
{
    (void)text;
    (void)room;
    (void)writing;
    (void)context;
    return -1;
}

struct receipt_key *receipt_key_parse_private(const char *pem, size_t size, const char **problem)
{
    BIO *bio BIO_SCOPE = size <= RECEIPT_KEY_FILE_MOST ? BIO_new_mem_buf(pem, (int)size) : NULL;
    return wrap(bio ? PEM_read_bio_PrivateKey(bio, NULL, no_pass_phrase, NULL) : NULL,
                "holds no private key in PEM without a pass phrase", problem);
}

struct receipt_key *receipt_key_parse_public(const char *pem, size_t size, const char **problem)
{
    BIO *bio BIO_SCOPE = size <= RECEIPT_KEY_FILE_MOST ? BIO_new_mem_buf(pem, (int)size) : NULL;
    return wrap(bio ? PEM_read_bio_PUBKEY(bio, NULL, no_pass_phrase, NULL) : NULL,
                "holds no public key in PEM", problem);
}

bool receipt_key_guarded(uid_t owner, mode_t mode, uid_t user)
{
    mode_t others = S_IWGRP | S_IXGRP | S_IRWXO;
    if (owner == user)
        return !(mode & (others | S_IRGRP));
    return owner == 0 && !(mode & others);
}

static bool read_guarded(const char *path, struct buffer *text, const char **problem)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* nor is a pipe waited for */
    if (fd < 0) {
        *problem = strerror(errno);
        return false;
    }
    bool looked = fstat(fd, &status) == 0;
    bool guarded = looked && receipt_key_guarded(status.st_uid, status.st_mode, geteuid());
    bool whole =
        guarded && S_ISREG(status.st_mode) && file_read_all(fd, RECEIPT_KEY_FILE_MOST, text);
    if (looked && !guarded)
        *problem = "can be read or changed by others: chmod 600";
    else if (!whole)
        *problem = "cannot be read as a key file";
    close(fd);
    return whole;
}

struct receipt_key *receipt_key_load(const char *path, const char **problem)
{
    struct buffer text BUFFER_SCOPE = {0};
    /* Room for all of it at once: nothing of the key is left behind in a block that was grown. */
    buffer_reserve(&text, READ_ROOM);
    struct receipt_key *key = NULL;
    if (read_guarded(path, &text, problem))
        key = receipt_key_parse_private(text.data, text.size, problem);
    explicit_bzero(text.data, text.room);
    return key;
}

void receipt_key_free(struct receipt_key *key)
{
    if (key)
        EVP_PKEY_free(key->pair);
    free(key);
}

const char *receipt_key_id(const struct receipt_key *key)
{
    return key->id;
}

const char *receipt_key_public(const struct receipt_key *key)
{
    return key->public_pem;
}

bool receipt_key_private(const struct receipt_key *key, struct buffer *out)
{
    char *pem = NULL;
    BIO *bio BIO_SCOPE = BIO_new(BIO_s_secmem());
    if (!bio || PEM_write_bio_PKCS8PrivateKey(bio, key->pair, NULL, NULL, 0, NULL, NULL) != 1)
        return false;
    long size = BIO_get_mem_data(bio, &pem);
    buffer_add(out, pem, (size_t)size);
    return true;
}

bool receipt_key_sign(const struct receipt_key *key, const void *data, size_t size,
                      unsigned char signature[RECEIPT_SIGNATURE])
{
    EVP_MD_CTX *context CONTEXT_SCOPE = EVP_MD_CTX_new();
    size_t length = RECEIPT_SIGNATURE;
    return context && EVP_DigestSignInit(context, NULL, NULL, NULL, key->pair) == 1 &&
           EVP_DigestSign(context, signature, &length, data, size) == 1 &&
           length == RECEIPT_SIGNATURE;
}

bool receipt_key_verify(const struct receipt_key *key, const void *data, size_t size,
                        const unsigned char signature[RECEIPT_SIGNATURE])
{
    EVP_MD_CTX *context CONTEXT_SCOPE = EVP_MD_CTX_new();
    return context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->pair) == 1 &&
           EVP_DigestVerify(context, signature, RECEIPT_SIGNATURE, data, size) == 1;
}
