// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// replay sends the requests of a manager and its webhook, as they were written down, while the node works. It returns the status
// that the agent has written before each patch.
func (n *node) replay(file string) (before []string) {
	n.Helper()
	text, err := os.ReadFile("testdata/managers/" + file)
	n.must(err)
	for line := range strings.Lines(string(text)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.NewReplacer("NOW", time.Now().UTC().Format(time.RFC3339), "UID", string(n.getPod("web-0").UID)).Replace(rest)
		switch verb {
		case "after":
			d, err := time.ParseDuration(rest)
			n.must(err)
			n.work(d)
		case "create":
			r := &v1alpha1.ContainerRecreateRequest{}
			n.must(json.Unmarshal([]byte(rest), r))
			_, err := n.requests.Create(n.Context(), r, metav1.CreateOptions{})
			n.must(err)
		case "patch":
			before = append(before, showStatus(&n.get("r").Status))
			_, err := n.requests.Patch(n.Context(), "r", types.MergePatchType, []byte(rest), metav1.PatchOptions{})
			n.must(err)
		}
		synctest.Wait()
	}
	return before
}

// podwright's agent beside managers of OpenKruise: it restarts what their webhook asks for, when their manager says so. (CRR-5.3)
func TestManagersOfOpenKruise(t *testing.T) {
	const stopped, done = "Recreating, main Recreating killed", "Completed, main Succeeded killed"
	for _, test := range []struct {
		name, file string
		before     []string
	}{
		{"CRR-5.3.9: it waits until the manager reports that the container is ready", "1.4.txt", []string{stopped, stopped, stopped, done}},
		{"CRR-5.3.2: it waits until the pod is out of service", "1.9-unready.txt", []string{"Recreating", stopped, done, done}},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(n *node) {
				n.stopManager()
				n.stopManager = func() {}
				n.pod("web-0", func(pod *corev1.Pod) { pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("bye")} })
				n.start()
				n.want("the status before each patch", test.before, n.replay(test.file))
				n.is("r", done)
				n.want("CRR-5.5: one stop, after its hook", []string{"ExecSync main-1 bye", "StopContainer main-1 30s"}, n.stops())
			})
		})
	}
}
