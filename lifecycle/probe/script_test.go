// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestScripts plays what happens to PodProbeMarkers, each file in a cluster of its own. Shown are the writes of both controllers, what
// the agents are to probe, markers and pods. In files that begin with "serverless", pods of virtual nodes are followed. To accept a
// change of behaviour, run the test with -rewrite and read the difference.
//
//	node n1, delete-node n1  creates and deletes a node
//	pod n1 web-0 web         creates a pod on a node, with a label app; "delete-pod web-0" deletes it
//	mark games web           creates a marker of pods with that label, with the probes that follow or the probe idle
//	crowd n1 web 30 web      creates so many pods: web-0 and so on
//	agent n1 Succeeded [web-0]
//	                         has the agent of a node report a state of all that it probes, or of one pod
//	unmark games             deletes a marker
//	patch-pod web-0 [status] [times=30], patch-node n1, patch-probes n1, patch-marker games
//	                         changes an object by the patch that follows, once a second
//	replay 1.4.txt n1 web-0  has an agent of OpenKruise report results for a pod, as they were written down, and shows the pod after each
//	add-probes n1            creates a NodePodProbe as another client does, and shows its UID
//	hold nodes, release nodes
//	                         stops and resumes the events of the cache of nodes
//	fail conflict, policy, too-large, heal
//	                         has the API server refuse two results, what is to be probed, or what is too large for etcd
//	begin, reconciles        begins to count reconciles, and tells how many there were of nodes and of markers; before it, events decide how many
//	                         make one
//	pause 1m                 lets time pass
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		play(t, func(c *cluster) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.String())
				}
				switch count := [2]int{c.nodeReconciles.Count(), c.markerReconciles.Count()}; d.Cmd {
				case "begin":
					c.reconciles = count
					return ""
				case "reconciles":
					return fmt.Sprintf("%d of nodes, %d of markers\n", count[0]-c.reconciles[0], count[1]-c.reconciles[1])
				}
				c.do(d.Cmd, args, strings.NewReplacer("$long", strings.Repeat("x", 5000), "$huge", strings.Repeat("x", 60<<10)).Replace(d.Input))
				c.Sleep(time.Second)
				return c.show()
			})
		}, func(c *cluster) { c.serverless = strings.HasPrefix(filepath.Base(path), "serverless") })
	})
}

// do does what a line of a script says.
func (c *cluster) do(command string, args []string, text string) {
	c.Helper()
	switch command {
	case "node":
		c.addNode(args[0])
	case "delete-node":
		c.Must(c.kube.CoreV1().Nodes().Delete(c.Context(), args[0], metav1.DeleteOptions{}))
	case "pod":
		c.addPod(args[0], args[1], args[2])
	case "crowd":
		for i := range patches.Number(c.T, args[2]) {
			c.addPod(args[0], fmt.Sprint(args[1], "-", i), args[3])
		}
	case "delete-pod":
		c.Must(c.kube.CoreV1().Pods(namespace).Delete(c.Context(), args[0], metav1.DeleteOptions{GracePeriodSeconds: new(int64(30))}))
	case "mark":
		if text == "" {
			text = idle
		}
		c.mark(args[0], args[1], text)
	case "agent":
		c.agent(args[0], v1alpha1.ProbeState(args[1]), args[2:]...)
	case "unmark":
		c.Must(c.markers.Delete(c.Context(), args[0], metav1.DeleteOptions{}))
	case "pause":
		c.Sleep(patches.Duration(c.T, args[0]))
	case "replay":
		c.replay(args[0], args[1], args[2])
	case "add-probes":
		added, err := c.probes.Create(c.Context(), &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: args[0]}}, metav1.CreateOptions{})
		c.Must(err)
		c.told = append(c.told, fmt.Sprint("added with the UID ", added.UID))
	case "hold":
		c.Hold(args[0])
	case "release":
		c.Release(args[0])
	case "fail":
		c.fail(args[0])
	case "heal":
		c.FailBefore(nil)
	default:
		c.patch(command, args, text)
	}
}

// patched are the paths of what the commands patch: pods and nodes by a strategic merge patch, others by a merge patch.
var patched = map[string]string{"patch-pod": "/api/v1/namespaces/default/pods/", "patch-node": "/api/v1/nodes/",
	"patch-probes": "/apis/apps.kruise.io/v1alpha1/nodepodprobes/", "patch-marker": "/apis/apps.kruise.io/v1alpha1/namespaces/default/podprobemarkers/"}

func (c *cluster) patch(command string, args []string, text string) {
	c.Helper()
	if patched[command] == "" {
		c.Fatalf("unknown command %s", command)
	}
	patch, err := yaml.YAMLToJSON([]byte(text))
	c.Must(err)
	times, path, kind := 1, patched[command]+args[0], types.MergePatchType
	for _, arg := range args[1:] {
		if n, is := strings.CutPrefix(arg, "times="); is {
			times = patches.Number(c.T, n)
		} else {
			path += "/" + arg
		}
	}
	if strings.HasPrefix(path, "/api/v1/") {
		kind = types.StrategicMergePatchType
	}
	for i := range times {
		if i > 0 {
			c.Sleep(time.Second)
		}
		c.Must(c.kube.CoreV1().RESTClient().Patch(kind).AbsPath(path).Body(patch).Do(c.Context()).Error())
	}
}

// fail has the API server refuse two results, as others write to the pod, or what is to be probed.
func (c *cluster) fail(how string) {
	conflicts := 0
	c.FailBefore(func(r fakecluster.Request) error {
		switch {
		case how == "conflict" && r.User == nodeUser && r.Verb == "patch" && r.Resource == "pods" && conflicts < 2:
			conflicts++
			return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, r.Name, errors.New("the object has been modified"))
		case how == "policy" && r.User == nodeUser && r.String() == "patch nodepodprobes":
			return apierrors.NewForbidden(schema.GroupResource{}, "n1", errors.New("a policy"))
		case how == "too-large" && r.User == nodeUser && r.Resource == "nodepodprobes" && len(r.Body) > 3<<19: // --max-request-bytes of etcd
			return apierrors.NewRequestEntityTooLargeError("etcdserver: request is too large")
		}
		return nil
	})
}

// show shows what the controllers have sent since the last time, and what there is.
func (c *cluster) show() string {
	c.Helper()
	lines := append(c.told, append(c.deleted(), append(c.sent(), c.events.All()...)...)...)
	c.events.Forget()
	c.told = nil
	lines = append(lines, c.probed()...)
	all, err := c.probes.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, n := range all.Items {
		if len(n.Spec.PodProbes) == 0 {
			lines = append(lines, "probes "+n.Name+" nothing")
		}
	}
	markers, err := c.markers.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, m := range markers.Items {
		line := fmt.Sprintf("%s: matched %d", m.Name, m.Status.MatchedPods)
		if m.Status.ObservedGeneration != m.Generation {
			line += ", of an older generation"
		}
		for _, condition := range m.Status.Conditions {
			line += fmt.Sprintf(", %s since %s: %s: %s", condition.Type, condition.LastTransitionTime.UTC().Format(time.TimeOnly), condition.Reason, condition.Message)
		}
		lines = append(lines, line)
	}
	return strings.Join(append(append(lines, c.pods()...), ""), "\n")
}

// pods shows what has become of pods; of many that are alike, how many they are.
func (c *cluster) pods() (lines []string) {
	c.Helper()
	pods, err := c.kube.CoreV1().Pods(namespace).List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	alike := map[string][]string{}
	for i := range pods.Items {
		is := c.pod(pods.Items[i].Name)
		alike[is] = append(alike[is], pods.Items[i].Name+": "+is)
	}
	for is, of := range alike {
		if len(of) > 9 {
			of = []string{fmt.Sprint(len(of), " pods: ", is)}
		}
		lines = append(lines, of...)
	}
	slices.Sort(lines)
	return lines
}

// deleted shows which NodePodProbes the controller has deleted, with the UID that it has named: another one that has taken the name would stay.
func (c *cluster) deleted() (lines []string) {
	for _, r := range c.Requests(nodeUser) {
		if r.String() == "delete nodepodprobes" {
			lines = append(lines, "deleted "+r.Name+" with "+strings.TrimSpace(string(r.Body)))
		}
	}
	return lines
}

// replay sends the results of an agent for a pod, as they were written down. Each is an update of the whole status of the
// NodePodProbe.
func (c *cluster) replay(file, node, name string) {
	c.Helper()
	pod, err := c.kube.CoreV1().Pods(namespace).Get(c.Context(), name, metav1.GetOptions{})
	c.Must(err)
	agent := c.lifecycle(agentUser).NodePodProbes()
	patches.Replay(c.T, "testdata/agents/"+file, c.Sleep, func(_, text string) {
		result := v1alpha1.ContainerProbeState{}
		c.Must(json.Unmarshal([]byte(text), &result))
		probes, err := agent.Get(c.Context(), node, metav1.GetOptions{})
		c.Must(err)
		probes.Status.PodProbeStatuses = []v1alpha1.PodProbeStatus{{Namespace: namespace, Name: name, UID: pod.UID, ProbeStates: []v1alpha1.ContainerProbeState{result}}}
		_, err = agent.UpdateStatus(c.Context(), probes, metav1.UpdateOptions{})
		c.Must(err)
		synctest.Wait()
		c.told = append(c.told, fmt.Sprintf("%s: %s", result.State, c.pod(name)))
	})
}
