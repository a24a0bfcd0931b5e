// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"
)

// contract is what is relied on in one CRD.
type contract struct {
	Group string `json:"group"`
	names
	Scope    string    `json:"scope"`
	Versions []version `json:"versions"`

	DeployedConversion any `json:"deployedConversion"` // a note
}

type names struct {
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
}

type version struct {
	Name         string       `json:"name"`
	Served       bool         `json:"served"`
	Storage      bool         `json:"storage"`
	Subresources subresources `json:"subresources"`
	Columns      []column     `json:"printerColumns"`
	// The fields by path, at any depth.
	Paths map[string]attributes `json:"paths"`
}

type subresources struct {
	Status bool   `json:"status"`
	Scale  *scale `json:"scale"` // nil: there is none
}

type scale struct {
	Spec     string `json:"specReplicasPath"`
	Status   string `json:"statusReplicasPath"`
	Selector string `json:"labelSelectorPath"`
}

type column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format"`
	JSONPath string `json:"jsonPath"`
	Priority int    `json:"priority"`
}

// name is that of the CRD.
func (c *contract) name() string { return c.Plural + "." + c.Group }

// readContracts returns the contracts that stand in the folder, by name.
func readContracts(folder fs.FS) (map[string]contract, error) {
	files, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	contracts := map[string]contract{}
	for _, file := range files {
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		var c contract
		if err := yaml.UnmarshalStrict(data, &c); err != nil {
			return nil, fmt.Errorf("%s: want a contract: %w", file, err)
		}
		if want := c.name() + ".yaml"; file != want {
			return nil, fmt.Errorf("%s: want the file name %s, after the CRD that it is about", file, want)
		}
		contracts[c.name()] = c
	}
	return contracts, nil
}

func TestReadContracts(t *testing.T) {
	const good = "group: g.io\nplural: foos\nversions:\n- {name: v1, paths: {.spec: {type: object}}}\n"
	for _, test := range []struct{ name, file, content, wantError string }{
		{"a contract", "foos.g.io.yaml", good, ""},
		{"a key twice", "foos.g.io.yaml", good + "group: h.io\n", "foos.g.io.yaml: want a contract"},
		{"an unknown key", "foos.g.io.yaml", good + "scopes: Cluster\n", "foos.g.io.yaml: want a contract"},
		{"a contract of another CRD", "bars.g.io.yaml", good, "bars.g.io.yaml: want the file name foos.g.io.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readContracts(fstest.MapFS{test.file: {Data: []byte(test.content)}})
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("error %v, want %q", err, test.wantError)
				}
				return
			}
			if err != nil || len(got) != 1 || got["foos.g.io"].Versions[0].Paths[".spec"]["type"] != "object" {
				t.Errorf("error %v, contracts %v", err, got)
			}
		})
	}
}
