// SPDX-License-Identifier: Apache-2.0

// Command measured makes the charts in the folder charts from the raw numbers in the folder runs. It also makes the tables of
// ../MEASURED.md that have numbers of runs:
//
//	go run ./tests/measured
//
// The file names of runs begin with the day of the run. A file of JSON lines has one line for each phase in the life of a
// CloneSet. A line says how many pods the phase is about. It has the wall time, the CPU time and memory of the manager.
// It also has the manager's requests, as the audit log of the API server counts them. A file of text is what "go test
// -bench" printed.
//
// With -builds it builds the programs of the examples, counts what packages import, and writes that to a file of the day.
package main
