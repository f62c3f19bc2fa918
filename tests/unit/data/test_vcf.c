/* Genotypes on files of a few lines: right, cut, wrong in every field, and whose columns are whose. */
#include "support/test.h"

#include "data/format/vcf.h"

#include <string.h>

#define HEAD "##fileformat=VCFv4.2\n##source=a test\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
#define SITE(pos, id, ref, alt) "1\t" pos "\t" id "\t" ref "\t" alt "\t.\tPASS\t.\tGT:DP\t"

static struct text_bytes bytes(const char *text, const char *where)
{
    return (struct text_bytes){(const unsigned char *)text, strlen(text), where};
}

/* list NULL: the file's own loci. */
static sotto_status read_text(struct dataset **out, struct vcf_counts *c, const char *file, const char *list,
                              enum vcf_absent absent)
{
    struct loci loci = {0};
    const struct text_bytes text = bytes(file, "x.vcf"), table = bytes(list ? list : "", "loci.csv");
    assert_int_equal(dataset_create(out), SOTTO_OK);
    sotto_status status = list ? loci_from_memory(&loci, &table) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = vcf_from_memory(*out, c, &text, list ? &loci : NULL, absent);
    loci_clear(&loci);
    return status;
}

static void expect_row(const struct dataset *d, size_t row, const float *wanted)
{
    for (size_t j = 0; j < d->set.columns; j++)
        if (d->features[row * d->set.columns + j] != wanted[j])
            fail_msg("row %zu, column %zu: %g, expected %g", row, j,
                     (double)d->features[row * d->set.columns + j], (double)wanted[j]);
}

static const char people[] = HEAD "ann\tbob\teve\n" SITE("10", "rs1", "A", "G") "0/0:9\t0|1:8\t1/1\n" SITE(
    "20", ".", "C", "T") "1\t0:3\t./.:0\n" SITE("30", "rs3", "G",
                                                "A,C") "0/1\t1/2\t2/2\n" SITE("40", "rs4", "T",
                                                                              "C") "1/1\t.|1\t0/1\n"
                                                                                   "1\t50\trs5\tA\tC\t."
                                                                                   "\tPASS\t.\tDP\t3\t4\t5\n";

TEST(a_file_brings_its_own_loci)
{
    struct dataset *d;
    struct vcf_counts c;
    /* rs3 has three alleles and rs5 no genotypes; what is missing is the mean of the others */
    assert_int_equal(read_text(&d, &c, people, NULL, VCF_ABSENT_REFUSED), SOTTO_OK);
    assert_int_equal(d->set.n, 3);
    assert_int_equal(d->set.columns, 3);
    expect_row(d, 0, (const float[]){0, 1, 1});
    expect_row(d, 1, (const float[]){0.5f, 0, 0.75f});
    expect_row(d, 2, (const float[]){1, 0.5f, 0.5f});
    assert_string_equal(d->columns[0].name, "rs1 G A");
    assert_string_equal(d->columns[1].name, "1:20:C:T T C");
    assert_true(c.people == 3 && c.loci == 3 && c.missing == 2 && c.multiallelic == 1 &&
                c.without_genotypes == 1);
    assert_int_equal(d->provenance.encoding, SOTTO_ENCODING_FITTED); /* every epsilon is conditional */
    dataset_discard(d);
}

/* The list decides: order, orientation, what is missing. */
TEST(a_public_list_decides_about_columns)
{
    static const char list[] =
        "frequency,id,allele,other\n.9,rs4,T,C\n.25,rs1,G,A\n.3,rs3,C,G\n.125,1:20:C:T,T,C\n";
    struct dataset *d;
    struct vcf_counts c;
    assert_int_equal(read_text(&d, &c, people, list, VCF_ABSENT_REFUSED), SOTTO_OK);
    expect_row(d, 0, (const float[]){0, 0, 0, 1});
    expect_row(d, 1, (const float[]){0.9f, 0.5f, 0.5f, 0});
    expect_row(d, 2, (const float[]){0.5f, 1, 1, 0.125f});
    assert_int_equal(d->provenance.encoding, SOTTO_ENCODING_PUBLIC);
    dataset_discard(d);
}

/* A locus that the file has no line for: refused, or what the caller says of the file. */
TEST(absent_loci_are_a_choice)
{
    static const char list[] = "id,allele,frequency\nrs1,G,.25\nrs9,T,.75\n";
    struct dataset *d;
    struct vcf_counts c;
    assert_int_equal(read_text(&d, &c, people, list, VCF_ABSENT_REFUSED), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "x.vcf: has no line for 1 of 2 loci of the list");
    dataset_discard(d);
    assert_int_equal(read_text(&d, &c, people, list, VCF_ABSENT_FREQUENCY), SOTTO_OK);
    expect_row(d, 1, (const float[]){0.5f, 0.75f});
    dataset_discard(d);
    assert_int_equal(read_text(&d, &c, people, list, VCF_ABSENT_NONE), SOTTO_OK);
    expect_row(d, 1, (const float[]){0.5f, 0});
    assert_int_equal(c.absent, 1);
    dataset_discard(d);
}

/* One person is replaced by every other genotype: nobody else's row may move, whichever loci and alternatives the file
 * then has, and whatever is missing. This is what makes 1/n the sensitivity of a mean. */
TEST(one_person_moves_one_row)
{
    static const char list[] = "id,allele,other,frequency\nrs1,G,A,.25\n1:20:C:T,T,C,.125\n1:30:G:A,A,G,.2\n";
    /* eve: as she may be; the files list what varies among their people, with the alternatives that occur */
    static const char *const files[] = {
        HEAD "ann\tbob\teve\n" SITE("10", "rs1", "A", "G") "0/0\t0/1\t0/0\n",
        HEAD "ann\tbob\teve\n" SITE("10", "rs1", "A", "G") "0/0\t0/1\t./.\n" SITE("20", ".", "C",
                                                                                  "T") "0/0\t0/0\t1/1\n",
        HEAD "ann\tbob\teve\n" SITE("10", "rs1", "A", "G,T") "0/0\t0/1\t1/2\n" SITE(
            "20", ".", "C", "A,T") "0/0\t0/0\t1/2\n" SITE("30", ".", "G", "C,A") "0/0\t0/0\t1/2\n",
        HEAD "ann\tbob\teve\n" SITE("10", "rs1", "A", "T,G") "0/0\t0/2\t1/1\n" SITE("30", ".", "G",
                                                                                    "T") "0/0\t0/0\t1/1\n"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dataset *d;
        struct vcf_counts c;
        assert_int_equal(read_text(&d, &c, files[i], list, VCF_ABSENT_NONE), SOTTO_OK);
        assert_int_equal(d->set.columns, 3);
        expect_row(d, 0, (const float[]){0, 0, 0});
        expect_row(d, 1, (const float[]){0.5f, 0, 0});
        dataset_discard(d);
    }
    /* the control: with a file's own loci a column comes and goes with eve, and her gap is filled with others' values */
    struct dataset *a, *b;
    struct vcf_counts c;
    assert_int_equal(read_text(&a, &c, files[0], NULL, VCF_ABSENT_REFUSED), SOTTO_OK);
    assert_int_equal(read_text(&b, &c, files[1], NULL, VCF_ABSENT_REFUSED), SOTTO_OK);
    assert_true(a->set.columns != b->set.columns);
    dataset_discard(a);
    dataset_discard(b);
}

TEST(lists_are_checked)
{
    static const struct {
        const char *list, *text;
    } bad[] = {
        {"rs1,G,.25\n",
         "loci.csv: the header has no column 'id'; expected id,allele,frequency and maybe other"},
        {"id,allele\nrs1,G\n",
         "loci.csv: the header has no column 'frequency'; expected id,allele,frequency and maybe other"},
        {"id,allele,frequency\n,G,.2\n", "loci.csv:2: expected an id and two different alleles"},
        {"id,allele,frequency,other\nrs1,G,.2,G\n", "loci.csv:2: expected an id and two different alleles"},
        {"id,allele,frequency\nrs1,G,1.2\n", "loci.csv:2: frequency 1.2; expected a number in [0, 1]"},
        {"id,allele,frequency\nrs1,G,nan\n", "loci.csv:2: frequency nan; expected a number in [0, 1]"},
        {"id,allele,frequency\nrs1,G,.2\nrs2,G,.2\nrs1,C,.2\n",
         "loci.csv: locus 'rs1' stands twice; expected each id once"},
        {"id,allele,frequency,other\nrs1,A,.5,T\n",
         "loci.csv: has no locus that can be used (1 with an unclear strand); expected at least one"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct loci l = {0};
        const struct text_bytes text = bytes(bad[i].list, "loci.csv");
        assert_int_equal(loci_from_memory(&l, &text), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), bad[i].text);
    }
}

/* A/T and C/G near 1/2, by the public frequency alone, so that their number is public. */
TEST(strands_are_judged_by_the_list)
{
    static const char list[] =
        "id,allele,frequency,other\n"
        "a,A,.5,T\nb,A,.4,T\nc,T,.61,A\nd,C,.45,G\ne,G,.59,C\nf,A,.5,G\ng,AT,.5,T\nh,A,.5,\n";
    struct loci l = {0};
    const struct text_bytes text = bytes(list, "loci.csv");
    assert_int_equal(loci_from_memory(&l, &text), SOTTO_OK);
    assert_int_equal(l.unclear, 4); /* a d e, and h, whose other allele nobody knows */
    assert_int_equal(l.count, 4);
    assert_string_equal(l.list[0].id, "b");
    assert_string_equal(l.list[3].id, "g");
    assert_ptr_equal(loci_find(&l, "g", 1), &l.list[3]);
    assert_null(loci_find(&l, "gg", 2));
    assert_null(loci_find(&l, "", 0));
    loci_clear(&l);
}

TEST(what_is_wrong_is_named_by_line)
{
    static const struct {
        const char *file, *text;
    } bad[] = {{"", "x.vcf:1: expected the line of column names, #CHROM to FORMAT and at least one person"},
               {"##fileformat=VCFv4.2\n1\t2\n",
                "x.vcf:2: expected the line of column names, #CHROM to FORMAT and at least one person"},
               {"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\n",
                "x.vcf:1: expected the line of column names, #CHROM to FORMAT and at least one person"},
               {HEAD "ann\n", "x.vcf: has no line of genotypes with two alleles; expected at least one"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "0/0\t0/1\n",
                "x.vcf:4: has 11 columns; expected 10, as the line of column names"},
               {HEAD "ann\n1\t2\n", "x.vcf:4: has 2 columns; expected 10, as the line of column names"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "0/2\n",
                "x.vcf:4: genotype '0/2' of person 1; expected alleles 0 to 1, as in 0/1"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "0/1/1\n",
                "x.vcf:4: genotype '0/1/1' of person 1 has 3 alleles; expected 1 or 2"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "x\n",
                "x.vcf:4: genotype 'x' of person 1; expected alleles 0 to 1, as in 0/1"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "0/\n",
                "x.vcf:4: genotype '0/' of person 1; expected alleles 0 to 1, as in 0/1"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "\n",
                "x.vcf:4: genotype '' of person 1; expected alleles 0 to 1, as in 0/1"},
               {HEAD "ann\n"
                     "1\t1\trs1\tA\tG\t.\t.\t.\tDP:GT\t3\n",
                "x.vcf:4: person 1 has no genotype; expected values as FORMAT names them"},
               {HEAD "ann\n" SITE("1", "rs1", "A", "G") "0/1\n" SITE("2", "rs1", "A", "G") "0/1\n",
                "x.vcf: locus 'rs1' stands twice; expected each id once"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dataset *d;
        struct vcf_counts c;
        assert_int_equal(read_text(&d, &c, bad[i].file, NULL, VCF_ABSENT_REFUSED), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), bad[i].text);
        dataset_discard(d);
    }
}

/* Windows line ends, no last line end, and cuts at every byte: an error or a set, never more. */
TEST(every_cut_is_survived)
{
    struct dataset *d;
    struct vcf_counts c;
    char text[sizeof people];
    assert_int_equal(
        read_text(&d, &c, HEAD "ann\r\n" SITE("1", "rs1", "A", "G") "0/1\r", NULL, VCF_ABSENT_REFUSED),
        SOTTO_OK);
    expect_row(d, 0, (const float[]){0.5f});
    dataset_discard(d);
    for (size_t cut = 0; cut < sizeof people; cut++) {
        memcpy(text, people, cut);
        text[cut] = '\0';
        const sotto_status status = read_text(&d, &c, text, NULL, VCF_ABSENT_REFUSED);
        assert_true(status == SOTTO_OK || status == SOTTO_EFORMAT);
        dataset_discard(d);
    }
}
