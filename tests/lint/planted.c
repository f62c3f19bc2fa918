/* One defect for each check of .clang-tidy, so that a check which finds nothing any more is noticed (tools/lint). Never built. */
#include <stdio.h>
#include <string.h>

static int calls;

void never_ends(int n)
{
    int i = 0;
    while (i < n)
        printf("%d\n", n);
}

double half(int n)
{
    return n / 2;
}

long widened(int n)
{
    return (long)(n * n);
}

int extended(char c)
{
    int i = c;
    return i;
}

void filled(int *text)
{
    memset(text, '0', 8);
}

void semicolon(int n)
{
    if (n > 3);
    calls++;
}

int compared(const char *a, const char *b)
{
    if (strcmp(a, b) == -1)
        return 1;
    return 0;
}

void small_index(size_t n)
{
    for (unsigned char i = 0; i < n; i++)
        calls++;
}

int redundant(int a)
{
    return a == 2 || a == 2;
}

void indented(int n)
{
    if (n)
        calls++;
        calls--;
}

void long_function(void)
{
    calls += 1;
    calls += 2;
    calls += 3;
    calls += 4;
    calls += 5;
    calls += 6;
    calls += 7;
    calls += 8;
    calls += 9;
    calls += 10;
    calls += 11;
    calls += 12;
    calls += 13;
    calls += 14;
    calls += 15;
    calls += 16;
    calls += 17;
    calls += 18;
    calls += 19;
    calls += 20;
    calls += 21;
    calls += 22;
    calls += 23;
    calls += 24;
    calls += 25;
    calls += 26;
    calls += 27;
    calls += 28;
    calls += 29;
    calls += 30;
    calls += 31;
    calls += 32;
    calls += 33;
    calls += 34;
    calls += 35;
    calls += 36;
    calls += 37;
    calls += 38;
    calls += 39;
    calls += 40;
    calls += 41;
    calls += 42;
    calls += 43;
    calls += 44;
    calls += 45;
    calls += 46;
    calls += 47;
    calls += 48;
    calls += 49;
    calls += 50;
    calls += 51;
    calls += 52;
    calls += 53;
    calls += 54;
    calls += 55;
    calls += 56;
    calls += 57;
    calls += 58;
    calls += 59;
    calls += 60;
    calls += 61;
    calls += 62;
}

static int one(void)
{
    return calls;
}
