# SPDX-License-Identifier: Apache-2.0
# A man page: TEMPLATE with @OPTIONS@ and @VERBS@ replaced by what PROGRAM says of itself.
#
#   "  --port 8080|auto|0   auto takes ..."        ->  .TP
#                                                    \fB\-\-port\fR 8080|auto|0
#                                                    auto takes ...
# PROGRAM --help may list verbs ("  top   ops, kernels, ..." behind "Other verbs"); each then gets a
# section with its own --help, as it stands.
cmake_minimum_required(VERSION 3.25)
string(ASCII 1 semicolon) # a list knows no other separator than ;
string(ASCII 2 opening)   # and [ ] join its members
string(ASCII 3 closing)

function(roff text ret)
  string(REPLACE "${semicolon}" ";" text "${text}")
  string(REPLACE "${opening}" "[" text "${text}")
  string(REPLACE "${closing}" "]" text "${text}")
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${ret} "${text}" PARENT_SCOPE)
endfunction()

function(told ret)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE out RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} ended with ${code}")
  endif()
  set(${ret} "${out}" PARENT_SCOPE)
endfunction()

# One option of the list: its flag, and what it does.
macro(option flag_text text)
  set(flag_is "${flag_text}")
  set(text_is "${text}")
  roff("${flag_is}" flag_is)
  roff("${text_is}" text_is)
  string(APPEND options ".TP\n${flag_is}\n${text_is}\n")
endmacro()

told(help --help)
string(REPLACE ";" "${semicolon}" help "${help}")
string(REPLACE "[" "${opening}" help "${help}")
string(REPLACE "]" "${closing}" help "${help}")
string(REPLACE "\n" ";" lines "${help}")
set(options "")
set(verbs "")
set(in_verbs OFF)
foreach(line IN LISTS lines)
  if(line MATCHES "^Other verbs")
    set(in_verbs ON)
  elseif(in_verbs AND line MATCHES "^  ([a-z]+) +(.*)$")
    list(APPEND verbs ${CMAKE_MATCH_1})
  elseif(line MATCHES "^ +(-[^ ].*[^ ])  +([^ ].*)$")
    option("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  elseif(line MATCHES "^ +(--[a-z-]+) ([a-z]+ .*)$")
    option("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  elseif(line MATCHES "^ +(-[^ ].*)$") # it is told on the next line
    roff("${CMAKE_MATCH_1}" flag)
    string(APPEND options ".TP\n${flag}\n")
  elseif(NOT options STREQUAL "" AND line MATCHES "^   +([^ ].*)$")
    roff("${CMAKE_MATCH_1}" text)
    string(APPEND options "${text}\n")
  endif()
endforeach()

set(sections "")
foreach(verb IN LISTS verbs)
  told(text ${verb} --help)
  roff("${text}" text)
  string(APPEND sections ".SS jviewd ${verb}\n.nf\n${text}.fi\n")
endforeach()

file(READ ${TEMPLATE} page)
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
string(REPLACE "@OPTIONS@\n" "${options}" page "${page}")
string(REPLACE "@VERBS@\n" "${sections}" page "${page}")
file(WRITE ${OUT} "${page}")
