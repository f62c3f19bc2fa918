/* Registered sets that no package carries: the user brings the files, the facts about them stand here. */
#include "data/dataset.h"

#include <stddef.h>

static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const char *const cifar10_names[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};
static const char *const adult_names[] = {"<=50K", ">50K"};

const struct dataset_source source_mnist = {
    .name = "mnist",
    .title = "MNIST, 10 classes, 28x28 grey",
    .origin = "LeCun, Cortes, Burges 1998",
    .licence = "CC BY-SA 3.0",
    .obtain = "get the four IDX files, then: sotto data import FOLDER --name mnist",
    .classes = 10,
    .class_names = digits};

const struct dataset_source source_cifar10 = {
    .name = "cifar10",
    .title = "CIFAR-10, 10 classes, 32x32 colour",
    .origin = "Krizhevsky 2009, www.cs.toronto.edu/~kriz/cifar.html",
    .licence = "none stated; cite Krizhevsky 2009",
    .obtain = "sotto data import PATH --name cifar10 (PATH: binary version or an archive of pictures)",
    .classes = 10,
    .class_names = cifar10_names};

const struct dataset_source source_cifar100 = {
    .name = "cifar100",
    .title = "CIFAR-100, 100 fine or 20 coarse classes, 32x32 colour",
    .origin = "Krizhevsky 2009, www.cs.toronto.edu/~kriz/cifar.html",
    .licence = "none stated; cite Krizhevsky 2009",
    .obtain = "sotto data import PATH --name cifar100 (PATH: the binary version)",
    .classes = 100,
    .class_names = NULL};

const struct dataset_source source_stl10 = {
    .name = "stl10",
    .title = "STL-10, labelled part, 10 classes, 96x96 colour",
    .origin = "Coates, Lee, Ng 2011, ai.stanford.edu/~acoates/stl10",
    .licence = "none stated; pictures from ImageNet; cite Coates, Lee, Ng 2011",
    .obtain = "sotto data import PATH --name stl10 [--size 32x32] (PATH: the binary version)",
    .classes = 10,
    .class_names = NULL,
    .part = "labelled"};

const struct dataset_source source_stl10_unlabelled = {
    .name = "stl10-unlabelled",
    .title = "STL-10, unlabelled part (for pre-training), 96x96 colour",
    .origin = "Coates, Lee, Ng 2011, ai.stanford.edu/~acoates/stl10",
    .licence = "none stated; pictures from ImageNet; cite Coates, Lee, Ng 2011",
    .obtain = "sotto data import PATH --name stl10-unlabelled [--size 32x32] (PATH: the binary version)",
    .part = "unlabelled"};

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
