// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// podwright's agent beside managers of OpenKruise: it runs what they ask for, and reports it by their names. (PPM-4.1)
func TestManagersOfOpenKruise(t *testing.T) {
	for file, want := range map[string][]string{
		"1.4.yaml": {"web-0 a#idle Succeeded (secret on stdout)"},
		"1.9.yaml": {"web-0 a#idle Succeeded (secret on stdout)", "web-0 gone#idle Failed (secret on stderr)"},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile("testdata/managers/" + file)
			if err != nil {
				t.Fatal(err)
			}
			play(t, func(n *node) {
				n.exits("main-1", "busy", 1)
				n.run("web-0", "main")
				n.start()
				n.Sleep(time.Minute)
				n.expect("the results", want...)
				n.Sent(n.user())
				n.Sleep(time.Hour)
				n.Want("nothing is written again", nil, n.Sent(n.user()))
			}, func(of *v1alpha1.NodePodProbe) {
				if err := yaml.UnmarshalStrict(text, &of.Spec.PodProbes); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
