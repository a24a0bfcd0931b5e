// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// judges are the folders of what judges controllers, and of what plays the world around them: API server, scheduler, kubelets,
// users. A judge that calls what it judges is blind if that is wrong, so they import nothing of the product but API types and clients.
// In examples/tests/faults the tests themselves play and judge; elsewhere tests run the product, as they must.
var judges = map[string]bool{
	"internal/testing/patches":     false,
	"internal/testing/fakecluster": false, "internal/testing/fakecluster/scheduler": false, "internal/testing/simulation": false, "internal/testing/simulation/invariants": false,
	"examples/tests/faults": true, "examples/tests/faults/invariants": false, "examples/tests/faults/link": false, "examples/tests/testbed/podstate": false, "examples/tests/crds/appliers": false,
}

// players are the files, in packages of kinds, that play users of a history and the controllers of others, and do nothing else. Of
// other files that play histories, TestPlayersShareNothing looks at the functions that play or judge.
var players = map[string]bool{"simulation_users_test.go": true, "simulation_model_test.go": true, "simulation_deployment_test.go": true,
	"simulation_agent_test.go": true, "simulation_others_test.go": true, "simulation_gate_test.go": true}

// mustJudgeAlone tells whether a file may import nothing of the product.
func mustJudgeAlone(name string) bool {
	withTests, judge := judges[path.Dir(name)]
	return judge && (withTests || !strings.HasSuffix(name, "_test.go")) || players[path.Base(name)]
}

// shared lists what a judge imports of the product, in the order of the file.
func shared(name string, source []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		folder, own := strings.CutPrefix(imported, module+"/")
		if !own || versionFolder.MatchString(folder) || clientFolder.MatchString(folder) {
			continue
		}
		_, judge := judges[folder]
		equipment := strings.HasPrefix(folder, "examples/tests/testbed") || folder == "examples/tests/cluster"
		if !judge && !(equipment && strings.HasPrefix(name, "examples/")) {
			found = append(found, fmt.Sprintf("%s imports %s: a judge shares nothing with what it judges", name, folder))
		}
	}
	return found, nil
}

func TestJudgesShareNothing(t *testing.T) {
	judged := map[string]bool{}
	files := goFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !mustJudgeAlone(name) {
			continue
		}
		judged[path.Dir(name)] = true
		found, err := shared(name, files[name])
		if err != nil {
			t.Error(err)
		}
		for _, problem := range found {
			t.Error(problem)
		}
	}
	for folder := range judges {
		if !judged[folder] {
			t.Errorf("%s has no file to look at: take it off the list", folder)
		}
	}
}
