# Makes the committed seed inputs of tests/fuzz/fuzz_{idx,cifar,stl,image,archive}.c. Needs numpy and pillow.
import os, gzip, io, tarfile, zipfile, lzma, struct, numpy as np
from PIL import Image
R = os.path.join(os.path.dirname(__file__), '..', 'tests', 'fuzz', 'corpus', '')
def put(k,n,b):
    os.makedirs(R+k,exist_ok=True); open(R+k+'/'+n,'wb').write(b)
rng=np.random.default_rng(0)
im=struct.pack('>IIII',0x803,3,4,5)+bytes(range(60)); lb=struct.pack('>II',0x801,3)+bytes([0,1,2])
for n,b in dict(images=im,labels=lb,cut=im[:-7],packed=gzip.compress(im,mtime=0),packed_cut=gzip.compress(im,mtime=0)[:-5],huge=struct.pack('>IIII',0x803,2**32-1,2**32-1,2**32-1)+b'x',floats=b'\0\0\x0d\1\0\0\0\1abcd').items(): put('idx',n,b)
rec=lambda l:bytes([l])+bytes(3072)
put('cifar','one',rec(3)); put('cifar','two',rec(3)+rec(9)); put('cifar','bad_label',rec(10)); put('cifar','cut',rec(1)[:-1])
hundred=lambda c,f:bytes([c,f])+bytes(3072)
put('cifar','hundred',hundred(19,99)+hundred(0,3)); put('cifar','hundred_coarse',hundred(20,3)); put('cifar','hundred_fine',hundred(3,100)); put('cifar','hundred_cut',hundred(3,4)[:-1])
# stl: files present (train X, y, test X, y, unlabelled), part and size, side, labels per file (fuzz_stl.c)
pic=bytes(range(256))*108
for n,b in dict(labelled=bytes([3,0,0,1])+pic+b'\x05',both=bytes([15,1,0,1])+pic+b'\x01'+pic+b'\x0a',unlabelled=bytes([16,2,0,0])+pic+pic,resized=bytes([16,2|4|200,100,0])+pic,label_zero=bytes([3,0,0,1])+pic+b'\0',label_eleven=bytes([3,0,0,1])+pic+b'\x0b',no_labels=bytes([1,0,0,0])+pic,labels_alone=bytes([14,0,0,1])+b'\x01'+pic+b'\x01',two_labels=bytes([3,0,0,2])+pic+b'\x01\x02',cut=bytes([16,2,0,0])+pic[:-1],wrong_part=bytes([16,3,0,0])+pic,other_part=bytes([16,1,0,0])+pic).items(): put('stl',n,b)
def enc(a,f,**k):
    o=io.BytesIO(); Image.fromarray(a).save(o,f,**k); return o.getvalue()
rgb=rng.integers(0,255,(9,7,3),dtype=np.uint8); g=rgb[...,0]
pics=dict(rgb_png=enc(rgb,'PNG'),grey_png=enc(g,'PNG'),rgba_png=enc(np.dstack([rgb,g]),'PNG'),rgb_jpg=enc(rgb,'JPEG'),grey_jpg=enc(g,'JPEG'),progressive_jpg=enc(rgb,'JPEG',progressive=True),cmyk_jpg=(lambda o:(Image.fromarray(rgb).convert('CMYK').save(o,'JPEG'),o.getvalue())[1])(io.BytesIO()))
o=io.BytesIO(); Image.fromarray(g).convert('P').save(o,'PNG'); pics['palette_png']=o.getvalue()
o=io.BytesIO(); Image.fromarray(g).convert('1').save(o,'PNG'); pics['bits_png']=o.getvalue()
o=io.BytesIO(); Image.fromarray((g.astype(np.int32)*257).astype(np.uint16)).save(o,'PNG'); pics['deep_png']=o.getvalue()
pics['cut_jpg']=pics['rgb_jpg'][:-40]; pics['cut_png']=pics['rgb_png'][:-30]
for n,b in pics.items(): put('image',n,b)
def tar(files,mode='w'):
    o=io.BytesIO(); t=tarfile.open(fileobj=o,mode=mode)
    for n,b in files:
        i=tarfile.TarInfo(n); i.size=len(b); t.addfile(i,io.BytesIO(b))
    t.close(); return o.getvalue()
def zp(files):
    o=io.BytesIO(); z=zipfile.ZipFile(o,'w',zipfile.ZIP_DEFLATED)
    for n,b in files: z.writestr(zipfile.ZipInfo(n),b)
    z.close(); return o.getvalue()
pf=[('train/a/1.png',pics['rgb_png']),('test/b/1.jpg',pics['grey_jpg'])]
def npy(a):
    o=io.BytesIO(); np.save(o,a); return o.getvalue()
csv=b'"1",0,1\n"2",1,1\n'
A=dict(pictures_tar_gz=gzip.compress(tar(pf),mtime=0),pictures_tar_xz=lzma.compress(tar(pf)),pictures_zip=zp(pf),evil_tar_gz=gzip.compress(tar([('../x.png',b'x')]),mtime=0),
 idx_tar_gz=gzip.compress(tar([('train-images-idx3-ubyte',im),('train-labels-idx1-ubyte',lb)]),mtime=0),
 cifar_tar_gz=gzip.compress(tar([('data_batch_1.bin',rec(3)+rec(4))]),mtime=0),
 npy_zip=zp([('images.npy',npy(np.zeros((2,3,2,2),np.uint8))),('labels.npy',npy(np.array([0,1])))]),
 csv_plain=csv, csv_xz=lzma.compress(csv), adult_zip=zp([('adult.data',b'39, a, <=50K\n4, ?, >50K\n'),('adult.test',b'|x\n1, b, <=50K.\n')]),
 npy_plain=npy(np.zeros((2,3),np.float32)))
for n,b in A.items(): put('archive',n,b)
