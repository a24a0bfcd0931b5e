// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
)

func TestProgram(t *testing.T) {
	cases := map[string]struct {
		arguments string
		ran       bool
		output    string
		err       string
	}{
		"PF-2: no arguments":              {"", true, "", ""},
		"a flag of the program":           {"--fail", true, "", "as told"},
		"PF-2: what OpenKruise is given":  {"--v=4 --logtostderr=true --alsologtostderr --old=3", true, "Flag --old has been deprecated, it has no effect: it is old", ""},
		"-v is short, and JSON":           {"-v 2 --log-format=json", true, "", ""},
		"JSON, as component-base says it": {"--logging-format=json", true, "", ""},
		"a wrong format":                  {"--log-format=xml", false, "", `"xml"`},
		"an unknown flag":                 {"--old-one", false, "", "unknown flag: --old-one"},
		"an argument":                     {"run", false, "", `unknown command "run"`},
		"help":                            {"--help", false, "--fail", ""},
		"PF-2: help is about what works":  {"--help", false, "--print-rbac", ""},
		"the version":                     {"--version", false, "program version ", ""},
		"PF-9: RBAC":                      {"--print-rbac", false, "kind: Role", ""},
		"admission policies":              {"--print-policies", false, "kind: Policy", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { _ = logsapi.ResetForTest(nil) }()
			fail, ran, output := false, false, &bytes.Buffer{}
			command := Program{
				Name: "program",
				AddFlags: func(f *pflag.FlagSet) {
					f.SetOutput(output)
					f.BoolVar(&fail, "fail", false, "fails")
					WithoutEffect(f, false, "it is old", "old")
				},
				RBAC:     func() ([]byte, error) { return []byte("kind: Role"), nil },
				Policies: func() ([]byte, error) { return []byte("kind: Policy"), nil },
				Run: func(ctx context.Context) error {
					if ran = true; fail {
						return errors.New("as told")
					}
					return ctx.Err()
				},
			}.command(strings.Fields(c.arguments))
			command.SetOut(output)
			command.SetErr(io.Discard)
			err := command.Execute()
			if ran != c.ran || !strings.Contains(output.String(), c.output) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("ran %t, error %v, output:\n%s", ran, err, output)
			}
			if strings.Contains(output.String(), "--old ") && strings.Contains(c.arguments, "help") {
				t.Errorf("help shows what has no effect:\n%s", output)
			}
		})
	}
}
