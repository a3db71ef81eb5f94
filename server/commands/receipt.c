/* keygen and verify-receipt: the key of receipts, and what they are worth without the service. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/offline.h"
#include "server/commands/options.h"
#include "server/file.h"
#include "server/receipt/receipt.h"

static void free_key(struct receipt_key **key)
{
    receipt_key_free(*key);
}
#define KEY_SCOPE __attribute__((cleanup(free_key)))

/* A file that exists holds a key that receipts may hang on. A half-written one is none. */
static bool save_key(const struct receipt_key *key, const char *path)
{
    struct buffer pem BUFFER_SCOPE = {0};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        offline_complain(path, strerror(errno));
        return false;
    }
    bool saved = fchmod(fd, S_IRUSR | S_IWUSR) == 0 && receipt_key_private(key, &pem) &&
                 file_write_synced(fd, pem.data, pem.size);
    int problem = errno;
    if (pem.data)
        explicit_bzero(pem.data, pem.size);
    if (!saved) {
        unlink(path);
        offline_complain(path, strerror(problem));
    }
    close(fd);
    return saved;
}

int keygen_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "keygen FILE",
        .summary =
            "Makes an Ed25519 key that signs receipts. FILE receives the private key (mode 0600)\n"
            "and must not exist; `serve --receipt-key-file FILE` uses it. The key's id and the\n"
            "public key are printed, in a form that `verify-receipt --key` reads.",
        .exits = "  0  the key was made\n"
                 "  3  FILE exists or cannot be written\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    static const struct option_row rows[] = {{0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    KEY_SCOPE struct receipt_key *key = receipt_key_generate();
    if (!key) {
        offline_complain(arguments[0], "the system has no randomness");
        return OFFLINE_UNREADABLE;
    }
    if (!save_key(key, arguments[0]))
        return OFFLINE_UNREADABLE;
    struct buffer out BUFFER_SCOPE = {0};
    buffer_format(&out, "keyId %s\n%s", receipt_key_id(key), receipt_key_public(key));
    return offline_output(out.data, out.size);
}

/* The key of FILE when it has the receipt's id. False when the file is of no use. */
static bool try_file(const char *path, const char *id, struct receipt_key **found)
{
    struct buffer text BUFFER_SCOPE = {0};
    const char *problem = NULL;
    struct receipt_key *key = NULL;
    if (!file_read(path, RECEIPT_KEY_FILE_MOST, &text))
        problem = strerror(errno);
    else
        key = receipt_key_parse_public(text.data, text.size, &problem);
    if (!key) {
        offline_complain(path, problem);
        return false;
    }
    bool wanted = !*found && !strcmp(receipt_key_id(key), id);
    if (wanted)
        *found = key;
    else
        receipt_key_free(key);
    return true;
}

static bool try_dataset(const char *dataset, const char *id, struct receipt_key **found)
{
    REPOSITORY_SCOPE struct repository *repository = NULL;
    struct source source;
    struct store_error error = {""};
    struct buffer text BUFFER_SCOPE = {0};
    char path[RECEIPT_KEY_ID + 16];
    const char *problem = NULL;
    snprintf(path, sizeof path, "keys/%s.pub", id);
    enum repository_found result = REPOSITORY_FAULT;
    if (dataset_source(dataset, &repository, &source, &error))
        result = source_read(&source, path, &text, &error);
    if (result == REPOSITORY_FAULT) {
        offline_complain(dataset, error.message);
        return false;
    }
    if (result == REPOSITORY_ABSENT || *found)
        return true;
    *found = receipt_key_parse_public(text.data, text.size, &problem);
    if (!*found)
        offline_complain(path, problem);
    return *found != NULL;
}

static int judge(const struct offline_file *file, const struct receipt *receipt,
                 const struct receipt_key *key)
{
    struct buffer line BUFFER_SCOPE = {0};
    const struct js_value *run = js_get(receipt->payload, "runId");
    if (!key)
        buffer_format(&line, "not good: none of the given keys is %s", receipt->key_id);
    else if (!receipt_verify(&file->document, receipt, key))
        buffer_format(&line, "not good: key %s has not signed this", receipt->key_id);
    if (line.size) {
        offline_complain(file->name, buffer_string(&line));
        return OFFLINE_REFUSED;
    }
    buffer_text(&line, "good: run ");
    offline_add_safely(&line, run->text, run->size);
    buffer_format(&line, ", signed by key %s\n", receipt->key_id);
    return offline_output(line.data, line.size);
}

static int verify(const struct offline_file *file, const struct option_list *keys,
                  const char *dataset)
{
    KEY_SCOPE struct receipt_key *key = NULL;
    struct receipt receipt;
    const char *problem;
    if (!receipt_read(&file->document, &receipt, &problem)) {
        offline_complain(file->name, problem);
        return OFFLINE_REFUSED;
    }
    for (size_t i = 0; i < keys->count; i++)
        if (!try_file(keys->values[i], receipt.key_id, &key))
            return OFFLINE_UNREADABLE;
    if (dataset && !try_dataset(dataset, receipt.key_id, &key))
        return OFFLINE_UNREADABLE;
    return judge(file, &receipt, key);
}

int verify_receipt_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "verify-receipt RECEIPT [--key FILE]... [--dataset DATASET]",
        .summary =
            "Verifies a receipt, or an answer of the service that holds one, without the service.\n"
            "RECEIPT - is standard input. Keys come from files (PEM, as `keygen` prints) and\n"
            "from keys/ of a dataset: a plain folder, a work tree or a bare repository. At least "
            "one\n"
            "of the two is needed. What is verified is the signature: whether the run has landed "
            "is\n"
            "seen in the dataset, or asked of the service.",
        .exits = "  0  good: one of the keys signed it\n"
                 "  2  not good, or no receipt\n"
                 "  3  a file or the dataset cannot be read\n"
                 "  64 wrong usage",
        .operands_least = 1,
        .operands_most = 1};
    struct option_list keys = {0};
    const char *dataset = NULL;
    const struct option_row rows[] = {
        {.name = "key", .value = "FILE", .list = &keys, .help = "a public key; may be repeated"},
        {.name = "dataset", .value = "DATASET", .text = &dataset, .help = "take keys/ID.pub of it"},
        {0}};
    int exit_code;
    if (options_parse(&manual, rows, count, arguments, &exit_code) < 0)
        return exit_code;
    if (!keys.count && !dataset) {
        fprintf(stderr, "benchledger: --key or --dataset is needed\nUsage: benchledger %s\n",
                manual.usage);
        return EXIT_USAGE;
    }
    struct offline_file file;
    exit_code = OFFLINE_UNREADABLE;
    if (offline_open(&file, arguments[0]))
        exit_code = verify(&file, &keys, dataset);
    else
        offline_complain(file.name, file.problem);
    offline_close(&file);
    return exit_code;
}
