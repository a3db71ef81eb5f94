#include <openssl/evp.h>
#include <stdlib.h>

#include "validator/sha256.h"

void sha256(const void *data, size_t size, unsigned char digest[SHA256_SIZE])
{
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) != 1)
        abort(); /* only without memory or with a broken provider: nothing could be judged */
}
