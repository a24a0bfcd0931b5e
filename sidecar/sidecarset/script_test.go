// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestScripts plays what happens to the SidecarSet web, each file in a cluster of its own.
// Shown are the writes of the controller, the pods that wait, and events. To accept a change
// of behaviour, run the test with -rewrite and read the difference.
//
//	natives                  has native sidecars count as containers from now on
//	create                   creates it, with the lines of the spec that follow
//	edit                     changes it by the merge patch that follows
//	pods web-a web-b         creates pods that it is injected into
//	mirror                   has a webhook of others rewrite the images of pods that are created
//	missed web-x             creates a pod that the webhook has not heard of
//	delete-pod web-a         deletes a pod at once
//	reconcile                reconciles it once
//	kubelet                  has the kubelets take a step
//	pass 10s                 lets time pass
//	settle                   both, until nothing is left to do
//	refuse, lose what…       has the API server refuse requests, such as "patch pods", or lose the answers
//	heal                     has it answer again
//	status                   shows the pods and the status
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		inCluster(t, func(t *testing.T, c *cluster) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				c.T = t
				return c.run(d)
			})
		})
	})
}

func (c *cluster) run(d *datadriven.TestData) string {
	c.T.Helper()
	var names []string
	for _, arg := range d.CmdArgs {
		names = append(names, arg.Key)
	}
	switch d.Cmd {
	case "natives":
		c.options.Injection.NativeSidecars = true
		c.restart()
	case "pass":
		c.Sleep(names[0])
	case "create":
		c.create(d.Input)
	case "edit":
		c.Edit(d.Input)
	case "pods":
		for _, name := range names {
			c.CreatePod(injectedWith(c.T, c.get("web"), fixture.Web.Namespace, name, c.options.Injection))
		}
	case "missed":
		c.Sleep("2s")
		for _, name := range names {
			c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}})
		}
	case "mirror":
		c.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
			if request.Resource == "pods" && request.Verb == "create" && request.Subresource == "" {
				c.Must(fromMirror(object))
			}
		})
	case "delete-pod":
		c.RemovePod(names[0])
	case "reconcile":
		return c.reconcile()
	case "kubelet":
		c.KubeletStep()
	case "settle":
		return strings.Join(c.Settle(), "\n") + "\n"
	case "refuse":
		c.FailBefore(fixture.Fail(strings.Join(names, " "), fixture.ErrQuota))
	case "lose":
		c.FailAfter(fixture.Fail(strings.Join(names, " "), fixture.ErrLost))
	case "heal":
		c.FailBefore(nil)
		c.FailAfter(nil)
		c.Sleep("10m")
	case "status":
		return outcome(c.Cluster, "web") + "\n"
	default:
		c.T.Fatalf("unknown command %s", d.Cmd)
	}
	return ""
}

// fromMirror gives the containers of a pod images of a mirror.
func fromMirror(pod *unstructured.Unstructured) error {
	containers, _, err := unstructured.NestedSlice(pod.Object, "spec", "containers")
	if err != nil {
		return err
	}
	for _, c := range containers {
		fields := c.(map[string]any)
		fields["image"] = fmt.Sprint(mirror, fields["image"])
	}
	return unstructured.SetNestedSlice(pod.Object, containers, "spec", "containers")
}

// reconcile reconciles once, and shows what is written, what waits then, and events.
func (c *cluster) reconcile() string {
	c.T.Helper()
	c.Events.Forget()
	c.ForgetRequests()
	_, _, err := c.ReconcileOnce()
	var out []string
	for _, r := range c.Requests(fixture.ControllerUser) {
		if r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" {
			out = append(out, strings.TrimSpace(r.String()+" "+r.Name))
		}
	}
	slices.Sort(out) // pods are written side by side
	if err != nil {
		out = append(out, "error: "+err.Error())
	}
	plan, err := c.reconciler.Plan(context.Background(), types.NamespacedName{Name: "web"})
	c.Must(err)
	for _, wait := range plan.Waiting {
		out = append(out, fmt.Sprintf("%s waits: %s", wait.Pod.Name, wait.Reason.Message))
	}
	for _, event := range c.Events.All() {
		out = append(out, "event "+event)
	}
	if len(out) == 0 {
		return "nothing\n"
	}
	return strings.Join(out, "\n") + "\n"
}
