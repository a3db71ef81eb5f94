#include "validator/js_members.h"

#include <stdlib.h>

enum { FEW_KEYS = 8 };

static bool same_key(const struct js_member *a, const struct js_member *b)
{
    uint32_t size = a->key.size;
    return size == b->key.size && (size == 0 || (*a->key.text == *b->key.text &&
                                                 memcmp(a->key.text, b->key.text, size) == 0));
}

struct ordered_key {
    struct js_member *member;
    uint32_t place;
};

static int by_key_then_place(const void *left, const void *right)
{
    const struct ordered_key *a = left, *b = right;
    uint32_t size = a->member->key.size, other = b->member->key.size;
    if (size != other)
        return size < other ? -1 : 1;
    int order = memcmp(a->member->key.text, b->member->key.text, size);
    return order ? order : a->place < b->place ? -1 : 1;
}

/* Marks repeated keys (type becomes JS_NULL) after their value moved to the first place. Sorting keeps
 * hostile objects of a million keys cheap. */
static bool merge_many(struct js_member *members, size_t count)
{
    bool merged = false;
    struct ordered_key *order = memory_grow(NULL, count * sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct ordered_key){&members[i], (uint32_t)i};
    qsort(order, count, sizeof *order, by_key_then_place);
    for (size_t i = 0, first = 0; i < count; i++) {
        if (i == first)
            continue;
        if (same_key(order[first].member, order[i].member)) {
            order[first].member->value = order[i].member->value;
            order[i].member->key.type = JS_NULL;
            merged = true;
        } else {
            first = i;
        }
    }
    free(order);
    return merged;
}

static bool merge_few(struct js_member *members, size_t count)
{
    bool merged = false;
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (members[j].key.type == JS_STRING && same_key(&members[j], &members[i])) {
                members[j].value = members[i].value;
                members[i].key.type = JS_NULL;
                merged = true;
                break;
            }
        }
    }
    return merged;
}

/* A canonical decimal from 0 to 4294967294, which JavaScript moves to the front. */
static bool integer_key(const struct js_value *key, uint64_t *number)
{
    if (key->size == 0 || key->size > 10 || (key->text[0] == '0' && key->size > 1))
        return false;
    *number = 0;
    for (size_t i = 0; i < key->size; i++) {
        if (key->text[i] < '0' || key->text[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(key->text[i] - '0');
    }
    return *number <= 4294967294u;
}

struct numbered {
    uint64_t number;
    struct js_member member;
};

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const struct numbered *)left)->number,
             b = ((const struct numbered *)right)->number;
    return a < b ? -1 : a > b;
}

static void move_integers_first(struct js_member *members, size_t count)
{
    struct numbered *numbered = memory_grow(NULL, count * sizeof *numbered);
    struct js_member *others = memory_grow(NULL, count * sizeof *others);
    size_t integers = 0, left = 0;
    for (size_t i = 0; i < count; i++) {
        if (integer_key(&members[i].key, &numbered[integers].number))
            numbered[integers++].member = members[i];
        else
            others[left++] = members[i];
    }
    qsort(numbered, integers, sizeof *numbered, by_number);
    for (size_t i = 0; i < integers; i++)
        members[i] = numbered[i].member;
    if (left)
        memcpy(members + integers, others, left * sizeof *others);
    free(numbered);
    free(others);
}

size_t js_order_members(struct js_member *members, size_t count)
{
    if (count <= FEW_KEYS ? merge_few(members, count) : merge_many(members, count)) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (members[i].key.type == JS_STRING)
                members[kept++] = members[i];
        count = kept;
    }
    uint64_t number;
    for (size_t i = 0; i < count; i++) {
        if (integer_key(&members[i].key, &number)) {
            move_integers_first(members, count);
            break;
        }
    }
    return count;
}
