// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays what happens to a ResourceDistribution of the Secret pull, each file in a cluster of its own. Shown are the writes
// of the controller, events, the copies and the status. To accept a change of behaviour, run the test with -rewrite and read the
// difference.
//
//	namespaces a b       creates namespaces, and with a:x one that has the label group=x
//	distribute           creates it, with the targets that follow
//	edit                 changes it by the merge patch that follows
//	own ns               creates a Secret of the name that is a user's
//	spoil ns             changes the data of a copy
//	remove ns            deletes the Secret of the name
//	wait 30s             lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		in(t, nil, func(t *testing.T, c *fixture.Cluster) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				c.ForgetRequests()
				c.Events.Forget()
				play(t, c, d)
				lines := append(c.Sent(), c.Events.All()...)
				if all := copies(c, "pull"); all != "" {
					lines = append(lines, strings.Split(all, "\n")...)
				}
				if d.Cmd != "namespaces" {
					lines = append(lines, "status "+status(c))
				}
				if len(lines) == 0 {
					return "nothing\n"
				}
				return strings.Join(lines, "\n") + "\n"
			})
		})
	})
}

// play does what a line of a script says.
func play(t *testing.T, c *fixture.Cluster, d *datadriven.TestData) {
	t.Helper()
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.Key)
	}
	switch d.Cmd {
	case "namespaces":
		createNamespaces(c, args...)
	case "distribute":
		create(c, d.Input)
	case "edit":
		_, err := connect(c, fixture.TestUser).ResourceDistributions().Patch(t.Context(), "pull", types.MergePatchType, []byte(d.Input), metav1.PatchOptions{})
		c.Must(err)
	case "own":
		own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: args[0], Name: "pull"}, Data: map[string][]byte{"key": []byte("mine")}}
		_, err := c.Kube.CoreV1().Secrets(args[0]).Create(t.Context(), own, metav1.CreateOptions{})
		c.Must(err)
	case "spoil":
		_, err := c.Kube.CoreV1().Secrets(args[0]).Patch(t.Context(), "pull", types.MergePatchType, []byte(`{"data":{"key":"Zm91bA=="}}`), metav1.PatchOptions{})
		c.Must(err)
	case "remove":
		c.Must(c.Kube.CoreV1().Secrets(args[0]).Delete(t.Context(), "pull", metav1.DeleteOptions{}))
	case "wait":
		c.Sleep(args[0])
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	if d.Cmd != "wait" {
		c.Sleep("2s")
	}
}
