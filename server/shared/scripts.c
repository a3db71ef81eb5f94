#include "server/shared/scripts.h"

/* The same window as limits/ratelimit.c: slots of a minute, of which 60 whole ones and the running one
 * count. By Redis' clock, so that instances need not agree about the time. Answers the seconds to
 * wait, 0: counted. What is only counted, as a fine, fills a window at most: it never costs more than
 * its hour. */
static const char rate[] =
    "local time = redis.call('TIME')\n"
    "local slot, wait, n = math.floor(time[1] / 60), 0, #KEYS\n"
    "local amount, fine = tonumber(ARGV[n + 1]), ARGV[n + 2] == '1'\n"
    "for i, key in ipairs(KEYS) do\n"
    "  local most, sum, counts = tonumber(ARGV[i]), 0, {}\n"
    "  local fields = redis.call('HGETALL', key)\n"
    "  for j = 1, #fields, 2 do\n"
    "    local age = slot - tonumber(fields[j])\n"
    "    if age > 60 then redis.call('HDEL', key, fields[j])\n"
    "    else counts[age] = tonumber(fields[j + 1]) sum = sum + counts[age] end\n"
    "  end\n"
    "  if fine then amount = math.max(0, math.min(amount, most - sum))\n"
    "  elseif sum >= most then\n"
    "    for age = 60, 0, -1 do\n"
    "      sum = sum - (counts[age] or 0)\n"
    "      if sum < most then wait = math.max(wait, 61 - age) break end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "if wait > 0 then return (slot + wait) * 60 - time[1] end\n"
    "for i, key in ipairs(KEYS) do\n"
    "  redis.call('HINCRBY', key, slot, amount)\n"
    "  redis.call('EXPIRE', key, 3720)\n"
    "end\n"
    "return 0\n";

static const char reserve[] =
    "local value = redis.call('GET', KEYS[1])\n"
    "if not value then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end\n"
    "if value ~= ARGV[1] then return 0 end\n"
    "if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], "
    "ARGV[2]) "
    "end\n"
    "return 2\n";

static const char keep[] = "local value = redis.call('GET', KEYS[1])\n"
                           "if value and value ~= ARGV[1] then return 0 end\n"
                           "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n"
                           "return 1\n";

static const char drop[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end\n"
    "return 0\n";

const char *script_text(enum link_script script)
{
    static const char *const texts[SCRIPT_COUNT] = {[SCRIPT_RATE] = rate,
                                                    [SCRIPT_RESERVE] = reserve,
                                                    [SCRIPT_KEEP] = keep,
                                                    [SCRIPT_DROP] = drop};
    return texts[script];
}
