// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestProblems shows what the checks of this package say of the sources and graphs in testdata/problems.
//
//	given name                  a text that commands of the file need
//	imports, weight, needs m    what is wrong with a graph, in the notation of parseGraph, which may need three packages beyond the standard
//	                            library; which modules m needs. A line "allowed cron: reason" is one of furtherModules
//	file name [lines=n]         what is wrong with the cut and the names of a file, that is so long
//	license, undocumented, impurities
//	                            what is wrong with a file
//	pure                        which files have to be pure
//	shared name                 what a judge, the file of the name, shares with the product: it imports each package that is named
//	shells, mentions kind home  which shells are too long, of files that have so many lines; which of some files name a kind outside its package
//	unlike                      what deviates in the package given as "good", in which what stands before the line "is" is what stands after it
//	players                     what code of a history uses of the package given as "kind"
func TestProblems(t *testing.T) {
	datadriven.Walk(t, "testdata/problems", func(t *testing.T, path string) {
		given := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first := ""
			if len(d.CmdArgs) > 0 {
				first = d.CmdArgs[0].Key
			}
			if d.Cmd == "given" {
				given[first] = d.Input + "\n"
				return ""
			}
			found, err := problemsOf(d, first, given)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			var out strings.Builder
			for _, problem := range found {
				fmt.Fprintln(&out, strings.ReplaceAll(problem, module, ""))
			}
			return out.String()
		})
	})
}

func problemsOf(d *datadriven.TestData, first string, given map[string]string) (found []string, err error) {
	source := []byte(d.Input + "\n")
	switch d.Cmd {
	case "imports":
		further := map[string]string{}
		for line := range strings.Lines(d.Input) {
			if allowed, is := strings.CutPrefix(strings.TrimSpace(line), "allowed "); is {
				of, reason, _ := strings.Cut(allowed, ": ")
				further[of] = reason
			}
		}
		return importProblems(parseGraph(d.Input+"\nk8s.io/client-go/rest > klog"), further), nil // client-go brings klog along
	case "weight":
		return weightProblems(parseGraph(d.Input), 3), nil
	case "needs":
		return slices.Sorted(maps.Keys(parseGraph(d.Input).needs(modules(first)))), nil
	case "file":
		for len(d.CmdArgs) > 1 && fmt.Sprint(strings.Count(string(source), "\n")) != d.CmdArgs[1].Vals[0] {
			source = append(source, '\n')
		}
		return fileProblems(first, source)
	case "license":
		return licenseProblems("a.go", source), nil
	case "undocumented":
		return undocumented("p.go", source)
	case "impurities":
		return impurities("x.go", source)
	case "pure":
		for name := range strings.FieldsSeq(d.Input) {
			if mustBePure(name, modules("lifecycle/launchpriority", "lifecycle/recreate")) {
				found = append(found, name)
			}
		}
		return found, nil
	case "shared":
		text := "package p\nimport \"k8s.io/api/core/v1\"\n"
		for imported := range strings.FieldsSeq(d.Input) {
			text += fmt.Sprintf("import %q\n", module+"/"+imported)
		}
		return shared(first, []byte(text))
	case "shells", "mentions":
		files := map[string][]byte{}
		for line := range strings.Lines(d.Input) {
			name, content, _ := strings.Cut(strings.TrimSpace(line), ": ")
			lines, _ := strconv.Atoi(content)
			files[name] = append([]byte(content), bytes.Repeat([]byte("\n"), lines)...)
		}
		if d.Cmd == "shells" {
			return shellProblems(files), nil
		}
		return mentions(files, first, d.CmdArgs[1].Key), nil
	case "unlike":
		before, after, _ := strings.Cut(d.Input+"\n", "\nis\n")
		if !strings.Contains(given["good"], before) {
			return nil, fmt.Errorf("the good package lacks %q", before)
		}
		a, err := apiOf([]byte(strings.Replace(given["good"], before, strings.TrimSuffix(after, "\n"), 1)))
		if err != nil {
			return nil, err
		}
		return a.unlike()
	case "players":
		used, err := sharedByPlayers(map[string][]byte{"kind/kind.go": []byte(given["kind"]), "kind/simulation_test.go": []byte(given["history"] + d.Input)})
		for by, what := range used {
			found = append(found, by+": "+strings.Join(slices.Sorted(maps.Keys(what)), ", "))
		}
		return found, err
	}
	return nil, fmt.Errorf("unknown command %s", d.Cmd)
}
