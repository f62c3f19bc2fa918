/* Registered sets that cannot be downloaded: the user supplies the files, their facts are here. */
#include "data/dataset.h"

#include <stddef.h>

static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char *const cifar10_names[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};
static const char *const idc_names[] = {"no IDC", "with IDC"};
static const char *const adult_names[] = {"<=50K", ">50K"};

/* SHA-256: TensorFlow Datasets' checksum files; several public repositories agree. */
static const struct remote_file cifar10_files[] = {
    {"cifar-10-binary.tar.gz", 170052171, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
     NULL}};
static const struct remote_file cifar100_files[] = {
    {"cifar-100-binary.tar.gz", 168513733, "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
     NULL}};
static const struct remote_file stl10_files[] = {
    {"stl10_binary.tar.gz", 2640397119, "f31fd99273a1acb8609c8db427cebb1de3f71de77758cdc0e22956e1289b9866",
     NULL}};
static const struct dataset_remote cifar10_remote = {"https://www.cs.toronto.edu/~kriz/", 1, cifar10_files};
static const struct dataset_remote cifar100_remote = {"https://www.cs.toronto.edu/~kriz/", 1, cifar100_files};
static const struct dataset_remote stl10_remote = {"http://ai.stanford.edu/~acoates/stl10/", 1, stl10_files};

const struct dataset_source source_mnist = {
    .name = "mnist",
    .title = "MNIST, 10 classes, 28x28 grey",
    .origin = "LeCun, Cortes, Burges 1998",
    .licence = "CC BY-SA 3.0",
    .obtain = "get the four IDX files, then: sotto data import FOLDER --name mnist",
    .classes = 10,
    .class_names = digits};

const struct dataset_source source_svhn = {
    .name = "svhn",
    .title = "SVHN, format 2, 10 classes, 32x32 colour",
    .origin = "Netzer et al. 2011, ufldl.stanford.edu/housenumbers",
    .licence = "non-commercial use; cite Netzer et al. 2011",
    .obtain = "get train_32x32.mat and test_32x32.mat, then: python -m sotto.datasets svhn FOLDER -o OUT; "
              "sotto data import OUT --name svhn",
    .classes = 10,
    .class_names = digits};

const struct dataset_source source_cifar10 = {
    .name = "cifar10",
    .title = "CIFAR-10, 10 classes, 32x32 colour",
    .origin = "Krizhevsky 2009, www.cs.toronto.edu/~kriz/cifar.html",
    .licence = "none stated; cite Krizhevsky 2009",
    .obtain = "sotto data fetch cifar10, or: sotto data import PATH --name cifar10 (binary version or an "
              "archive of "
              "pictures)",
    .remote = &cifar10_remote,
    .classes = 10,
    .class_names = cifar10_names};

const struct dataset_source source_cifar100 = {
    .name = "cifar100",
    .title = "CIFAR-100, 100 fine or 20 coarse classes, 32x32 colour",
    .origin = "Krizhevsky 2009, www.cs.toronto.edu/~kriz/cifar.html",
    .licence = "none stated; cite Krizhevsky 2009",
    .obtain = "sotto data fetch cifar100, or: sotto data import PATH --name cifar100 (the binary version)",
    .remote = &cifar100_remote,
    .classes = 100,
    .class_names = NULL};

const struct dataset_source source_stl10 = {
    .name = "stl10",
    .title = "STL-10, labelled part, 10 classes, 96x96 colour",
    .origin = "Coates, Lee, Ng 2011, ai.stanford.edu/~acoates/stl10",
    .licence = "none stated; pictures from ImageNet; cite Coates, Lee, Ng 2011",
    .obtain =
        "sotto data fetch stl10 [--size 32x32] (2.6 GB), or: sotto data import PATH --name stl10 (the binary "
        "version)",
    .remote = &stl10_remote,
    .classes = 10,
    .class_names = NULL,
    .part = "labelled"};

const struct dataset_source source_stl10_unlabelled = {
    .name = "stl10-unlabelled",
    .title = "STL-10, unlabelled part (for pre-training), 96x96 colour",
    .origin = "Coates, Lee, Ng 2011, ai.stanford.edu/~acoates/stl10",
    .licence = "none stated; pictures from ImageNet; cite Coates, Lee, Ng 2011",
    .obtain =
        "comes with: sotto data fetch stl10; or: sotto data import PATH --name stl10-unlabelled (the binary "
        "version)",
    .remote = &stl10_remote,
    .part = "unlabelled"};

const struct dataset_source source_idc = {
    .name = "idc",
    .title = "IDC, patches of breast tissue, 2 classes, 50x50 colour",
    .origin = "Cruz-Roa et al. 2014, Janowczyk and Madabhushi 2016: 277,524 patches of 279 patients",
    .licence = "none stated; cite both papers",
    .obtain = "get the archive of patches (patient/class/*.png), then: python -m sotto.datasets idc PATH -o "
              "OUT; sotto data import OUT --name idc",
    .classes = 2,
    .class_names = idc_names};

const struct dataset_source source_adult = {
    .name = "adult",
    .title = "UCI Adult (census income), 2 classes, 14 columns",
    .origin = "Kohavi, Becker 1996, UCI machine learning repository",
    .licence = "CC BY 4.0",
    .obtain =
        "sotto data import PATH --name adult (PATH: adult.data, or a folder with adult.data and adult.test)",
    .classes = 2,
    .class_names = adult_names};

const struct dataset_source source_location = {
    .name = "location",
    .title = "Location-30, 30 classes, 446 binary columns",
    .origin = "Shokri et al. 2017 from Foursquare check-ins in Bangkok, github.com/privacytrustlab/datasets",
    .licence = "none stated; research use",
    .obtain = "sotto data import PATH --name location (PATH: the CSV file, packed or not)",
    .classes = 30,
    .class_names = NULL};

const struct dataset_source source_purchase = {
    .name = "purchase",
    .title = "Purchase-100, 100 classes, 600 binary columns",
    .origin =
        "Shokri et al. 2017 from Kaggle's \"acquire valued shoppers\", github.com/privacytrustlab/datasets",
    .licence = "none stated; research use",
    .obtain = "get dataset_purchase, then: python -m sotto.datasets purchase PATH -o OUT; sotto data import "
              "OUT --name purchase",
    .classes = 100,
    .class_names = NULL};

const struct dataset_source source_texas = {
    .name = "texas",
    .title = "Texas-100 (hospital stays), 100 classes, 6,169 binary columns",
    .origin = "Shokri et al. 2017 from Texas hospital discharge data, github.com/privacytrustlab/datasets",
    .licence = "none stated; research use",
    .obtain = "get feats and labels, then: python -m sotto.datasets texas PATH -o OUT; sotto data import OUT "
              "--name texas",
    .classes = 100,
    .class_names = NULL};
