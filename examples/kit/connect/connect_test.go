// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://%s:6443"}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`

func TestConnection(t *testing.T) {
	file := func(host string) string {
		path := filepath.Join(t.TempDir(), host)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(kubeconfig, "%s", host)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flag, variable := file("flag"), file("variable")
	cases := map[string]struct {
		given        *rest.Config
		kubeconfig   string
		variable     string
		host, source string
		err          string
	}{
		"the embedding program is first": {&rest.Config{Host: "embedded"}, flag, variable, "embedded", "the embedding program", ""},
		"then the flag":                  {nil, flag, variable, "https://flag:6443", "--kubeconfig=" + flag, ""},
		"then the environment":           {nil, "", variable, "https://variable:6443", "environment variable KUBECONFIG=" + variable, ""},
		"a list of files in the environment": {nil, "", "/nowhere" + string(os.PathListSeparator) + variable, "https://variable:6443",
			"environment variable KUBECONFIG=/nowhere" + string(os.PathListSeparator) + variable, ""},
		"a list of files in the flag": {nil, "/nowhere" + string(os.PathListSeparator) + flag, variable, "https://flag:6443",
			"--kubeconfig=/nowhere" + string(os.PathListSeparator) + flag, ""},
		"a flag with a wrong file":     {nil, "/nowhere", variable, "", "", "--kubeconfig=/nowhere"},
		"a variable with a wrong file": {nil, "", "/nowhere", "", "", "KUBECONFIG=/nowhere: stat /nowhere"},
		"nothing at all":               {nil, "", "", "", "", "want --kubeconfig=<file>"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.variable)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			config, source, err := Config(c.given, c.kubeconfig)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != c.host || source != c.source {
				t.Errorf("%s from %s, want %s from %s", config.Host, source, c.host, c.source)
			}
		})
	}
}
