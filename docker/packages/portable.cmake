# SPDX-License-Identifier: Apache-2.0
# One program for every distribution with glibc 2.34: libraries are linked into it where Debian has
# them as archives, and stand beside it in ../lib/jviewd where not (CivetWeb, ISA-L), or where their
# licence wants them to be replaceable (libseccomp, LGPL).
#
# libstdc++ is Snappy's; Debian 12's shared one needs glibc 2.36. libgcc_s stays the system's: each
# has one, and its unwinder belongs to its libc. libzip is found through PKG_CONFIG_PATH where
# docker/packages/libzip.sh has left an archive of it without OpenSSL, which would be most of the size.

# jviewd_archive(TARGET ARCHIVE...): the imported target links these and nothing else.
function(jviewd_archive target)
  set(found "")
  foreach(name ${ARGN})
    if(name MATCHES "\\.a$")
      find_library(ARCHIVE_${name} ${name} REQUIRED)
      list(APPEND found ${ARCHIVE_${name}})
    else()
      list(APPEND found ${name})
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${found})
endfunction()

execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a
                OUTPUT_VARIABLE stdcxx OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
jviewd_archive(PkgConfig::ZLIB libz.a)
jviewd_archive(PkgConfig::ZSTD libzstd.a)
jviewd_archive(PkgConfig::LZMA liblzma.a)
jviewd_archive(PkgConfig::XXHASH libxxhash.a)
jviewd_archive(PkgConfig::SQLITE libsqlite3.a m)
jviewd_archive(PkgConfig::JANSSON libjansson.a)
jviewd_archive(PkgConfig::NGHTTP2 libnghttp2.a)
jviewd_archive(PkgConfig::SNAPPY libsnappy.a)
jviewd_archive(PkgConfig::EXPAT libexpat.a m)
add_library(jviewd_arc4random STATIC docker/packages/arc4random.c) # for expat: glibc has it since 2.36
set_property(TARGET PkgConfig::EXPAT APPEND PROPERTY INTERFACE_LINK_LIBRARIES jviewd_arc4random)
set_property(TARGET PkgConfig::SNAPPY APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${stdcxx} m)
find_library(ZIP_ARCHIVE libzip.a HINTS ${ZIP_LIBRARY_DIRS} REQUIRED NO_DEFAULT_PATH)
find_library(BZ2_ARCHIVE libbz2.a REQUIRED)
set_property(TARGET PkgConfig::ZIP PROPERTY INTERFACE_LINK_LIBRARIES ${ZIP_ARCHIVE} ${BZ2_ARCHIVE}
             ${ARCHIVE_libz.a})

set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/jviewd")
add_link_options(-Wl,--as-needed -Wl,--gc-sections -Wl,--exclude-libs,ALL)
