// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"
)

// PlayRows plays the tables of pure functions that stand in a file, or in the files of a folder. To accept a change of behaviour, run the test with -rewrite and read
// the difference. A row is a line in YAML, and lines that follow it and are indented. It is read into what blank returns, which has the defaults; blank may be nil.
// Rows that follow a line "with" have what stands there, too. What stands behind # is shown in place of the row. What is shown of a row is its result.
func PlayRows[R any](t *testing.T, folder string, blank func() R, show func(t *testing.T, command string, row *R) string) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			with := map[string]any{}
			for _, text := range rows(d.Input) {
				text, name, named := strings.Cut(text, " # ")
				if !named {
					name = text
				}
				rest, shared := strings.CutPrefix(text, "with ")
				fields := map[string]any{}
				var row R
				if blank != nil {
					row = blank()
				}
				if err := yaml.Unmarshal([]byte(rest), &fields); err != nil {
					d.Fatalf(t, "%s: %v", text, err)
				}
				if shared {
					with = fields
					continue
				}
				whole, err := yaml.Marshal(over(with, fields))
				if err == nil {
					err = yaml.UnmarshalStrict(whole, &row)
				}
				if err != nil {
					d.Fatalf(t, "%s: %v", text, err)
				}
				out.WriteString(shown(name, show(t, d.Cmd, &row), false))
			}
			return out.String()
		})
	})
}

// EachLine shows what comes of each line of a text. What stands behind # is shown in place of the line.
func EachLine(text string, show func(line string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, name, _ := strings.Cut(" "+strings.TrimSpace(line), " # ")
		line = strings.TrimSpace(line)
		name = cmp.Or(name, line)
		out.WriteString(shown(name, show(line), len(name) > 60))
	}
	return out.String()
}

// shown is a name and what is shown of it: on the same line, or indented below. What has several lines stands below in any case.
func shown(name, said string, below bool) string {
	said = cmp.Or(strings.TrimSpace(said), "nothing")
	if said = " " + said; below || strings.Contains(said, "\n") {
		said = "\n" + said[1:]
	}
	return fmt.Sprintf("%s:%s\n", name, strings.ReplaceAll(said, "\n", "\n    "))
}

// over are fields over others: an object is merged into one that is there, and null takes the place of it.
func over(base, fields map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range fields {
		below, isObject := merged[key].(map[string]any)
		if object, is := value.(map[string]any); is && isObject {
			value = over(below, object)
		}
		merged[key] = value
	}
	return merged
}

// rows are the lines of a text, each with the indented ones that follow.
func rows(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") && len(all) > 0 {
			all[len(all)-1] += "\n" + strings.TrimRight(line, "\n")
			continue
		}
		all = append(all, strings.TrimRight(line, "\n"))
	}
	return all
}
