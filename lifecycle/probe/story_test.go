// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A marker from its creation to its end, and what it costs. (PPM-2.2 to PPM-2.5, PPM-3.1 to PPM-3.6)
func TestMarker(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.addPod("n1", "db-0", "db")
		c.pause(time.Second)
		expect(c, "a NodePodProbe per node", []string{"1 create nodepodprobes"}, c.sent())

		c.mark("games", "web", idle)
		expect(c, "what is probed", []string{"n1 web-0 games#idle"}, c.probed())
		expect(c, "the requests", []string{"1 patch nodepodprobes", "1 patch podprobemarkers", "1 patch podprobemarkers/status"}, c.sent())
		m, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{})
		c.must(err)
		expect(c, "the status", v1alpha1.PodProbeMarkerStatus{ObservedGeneration: m.Generation, MatchedPods: 1}, m.Status)

		for _, step := range []struct {
			state v1alpha1.ProbeState
			want  string
		}{
			{v1alpha1.ProbeUnknown, "idle= cost= Idle=Unknown"},
			{v1alpha1.ProbeSucceeded, "idle=yes cost=-10 Idle=True"},
			{v1alpha1.ProbeFailed, "idle=no cost= Idle=False"},
			{v1alpha1.ProbeUnknown, "idle=no cost= Idle=Unknown"},
		} {
			c.agent("n1", step.state)
			c.pause(time.Second)
			expect(c, "the pod, "+string(step.state), step.want, c.pod("web-0"))
			expect(c, "one write a transition", []string{"1 patch pods/status"}, c.sent())
		}

		c.must(c.markers.Delete(c.Context(), "games", metav1.DeleteOptions{}))
		c.pause(time.Second)
		expect(c, "nothing is probed", nil, c.probed())
		expect(c, "what is on the pod stays", "idle=no cost= Idle=Unknown", c.pod("web-0"))
		expect(c, "the requests of the end", []string{"1 patch nodepodprobes", "1 patch podprobemarkers"}, c.sent())
		if _, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{}); err == nil {
			c.Error("the marker is still there")
		}
	})
}

// PPM-3.6: while nothing changes no request is made and nothing reconciled, whatever kubelets report.
func TestNothingChanges(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.addPod("n1", "db-0", "db")
		c.mark("games", "web", idle)
		c.agent("n1", v1alpha1.ProbeSucceeded)
		c.pause(time.Minute)
		c.ForgetRequests()
		before := c.nodeReconciles.Count() + c.markerReconciles.Count()
		for _, name := range []string{"web-0", "db-0"} {
			for _, status := range []string{"False", "True"} {
				_, err := c.kube.CoreV1().Pods(namespace).Patch(c.Context(), name, types.StrategicMergePatchType,
					[]byte(`{"status":{"conditions":[{"type":"Ready","status":"`+status+`"}],"hostIP":"10.1.0.`+"9"+`"}}`), metav1.PatchOptions{}, "status")
				c.must(err)
			}
		}
		c.agent("n1", v1alpha1.ProbeSucceeded) // at another time
		nodes, err := c.kube.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
		c.must(err)
		nodes.Items[0].Status.Conditions[0].LastHeartbeatTime = metav1.Now()
		_, err = c.kube.CoreV1().Nodes().UpdateStatus(c.Context(), &nodes.Items[0], metav1.UpdateOptions{})
		c.must(err)
		c.pause(time.Hour)
		expect(c, "requests", nil, c.sent())
		if n := c.nodeReconciles.Count() + c.markerReconciles.Count() - before; n != 0 {
			c.Errorf("%d reconciles, want none", n)
		}
	})
}

// PPM-3.2, PPM-3.6: an address that a pod gets, or gets instead of another, is in the NodePodProbe after one request.
func TestAddressFollows(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.addPod("n1", "db-0", "db")
		c.mark("games", "web", idle)
		c.pause(time.Minute)
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c.ForgetRequests()
			for _, name := range []string{"web-0", "db-0"} { // one that is not probed, too
				_, err := c.kube.CoreV1().Pods(namespace).Patch(c.Context(), name, types.StrategicMergePatchType, []byte(`{"status":{"podIP":"`+ip+`"}}`), metav1.PatchOptions{}, "status")
				c.must(err)
			}
			c.pause(time.Minute)
			expect(c, "requests", []string{"1 patch nodepodprobes"}, c.sent())
			n, err := c.probes.Get(c.Context(), "n1", metav1.GetOptions{})
			c.must(err)
			if len(n.Spec.PodProbes) != 1 || n.Spec.PodProbes[0].IP != ip {
				c.Errorf("PPM-3.2: %+v, want the address %s", n.Spec.PodProbes, ip)
			}
		}
	})
}

// PPM-3.2: of two markers, one of which has the other's name at its end, and of the namesake elsewhere, each loses its own.
func TestMarkersOfSimilarNames(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.mark("b", "web", idle)
		c.mark("ab", "web", `[{name: idle, containerName: main, podConditionType: Other, probe: {exec: {command: [/idle]}}}]`)
		expect(c, "both", []string{"n1 web-0 ab#idle", "n1 web-0 b#idle"}, c.probed())
		c.must(c.markers.Delete(c.Context(), "b", metav1.DeleteOptions{}))
		c.pause(time.Second)
		expect(c, "one", []string{"n1 web-0 ab#idle"}, c.probed())
	})
}

// PPM-3.2, PPM-3.3: pods come, stop matching, match again, and go.
func TestPods(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addNode("n2")
		c.mark("games", "web", idle)
		relabel := func(pod, app string) {
			_, err := c.kube.CoreV1().Pods(namespace).Patch(c.Context(), pod, types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"app":"`+app+`"}}}`), metav1.PatchOptions{})
			c.must(err)
			c.pause(time.Second)
		}
		c.addPod("n1", "web-0", "web")
		c.addPod("n2", "web-1", "web")
		c.pause(time.Second)
		expect(c, "two", []string{"n1 web-0 games#idle", "n2 web-1 games#idle"}, c.probed())
		relabel("web-0", "db")
		expect(c, "one has left", []string{"n2 web-1 games#idle"}, c.probed())
		c.agent("n1", v1alpha1.ProbeSucceeded)
		relabel("web-0", "web")
		expect(c, "it is back", []string{"n1 web-0 games#idle", "n2 web-1 games#idle"}, c.probed())
		m, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{})
		c.must(err)
		expect(c, "matched", 2, m.Status.MatchedPods)
		c.must(c.kube.CoreV1().Pods(namespace).Delete(c.Context(), "web-1", metav1.DeleteOptions{GracePeriodSeconds: new(int64(30))}))
		c.pause(time.Second)
		expect(c, "one goes", []string{"n1 web-0 games#idle"}, c.probed())
		c.must(c.kube.CoreV1().Nodes().Delete(c.Context(), "n1", metav1.DeleteOptions{}))
		c.pause(time.Second)
		expect(c, "its node is gone", nil, c.probed())
	})
}

// PPM-3.2: what a marker loses by force is put right, and what a user removes from a pod comes back.
func TestDrift(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.mark("games", "web", idle)
		c.agent("n1", v1alpha1.ProbeSucceeded)
		c.pause(time.Minute)
		_, err := c.probes.Patch(c.Context(), "n1", types.MergePatchType, []byte(`{"spec":{"podProbes":[{"namespace":"default","name":"web-0","uid":"old","probes":[]}]}}`), metav1.PatchOptions{})
		c.must(err)
		_, err = c.kube.CoreV1().Pods(namespace).Patch(c.Context(), "web-0", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"idle":null}}}`), metav1.PatchOptions{})
		c.must(err)
		c.pause(time.Second)
		expect(c, "the spec", []string{"n1 web-0 games#idle"}, c.probed())
		expect(c, "the pod", "idle=yes cost=-10 Idle=True", c.pod("web-0"))
		c.ForgetRequests()
		for range 30 { // another client wants another value, and writes it at once whenever it is changed
			_, err = c.kube.CoreV1().Pods(namespace).Patch(c.Context(), "web-0", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"idle":"maybe"}}}`), metav1.PatchOptions{})
			c.must(err)
			c.pause(time.Second)
		}
		expect(c, "PPM-3.7: two that do not agree", []string{"3 patch pods/status"}, c.sent())
	})
}

// PPM-3.3: a result that the API server does not take, since others write to the pod all the time, is written again.
func TestConflict(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		c.addPod("n1", "web-0", "web")
		c.mark("games", "web", idle)
		conflicts := 0
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User != nodeUser || r.Verb != "patch" || r.Resource != "pods" || conflicts == 2 {
				return nil
			}
			conflicts++
			return apierrors.NewConflict(corev1.Resource("pods"), r.Name, errors.New("the object has been modified"))
		})
		c.agent("n1", v1alpha1.ProbeSucceeded)
		c.pause(10 * time.Second)
		expect(c, "conflicts", 2, conflicts)
		expect(c, "the pod", "idle=yes cost=-10 Idle=True", c.pod("web-0"))
	})
}

// PPM-1.6, PPM-3.8: a marker has a long script, which no webhook has seen. It keeps no other marker from having its probes
// changed. The pods and the marker say why the script is not run.
func TestLongScript(t *testing.T) {
	play(t, func(c *cluster) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == nodeUser && r.Resource == "nodepodprobes" && len(r.Body) > 3<<19 { // --max-request-bytes of etcd
				return apierrors.NewRequestEntityTooLargeError("etcdserver: request is too large")
			}
			return nil
		})
		c.addNode("n1")
		c.addPod("n1", "victim-0", "victim")
		for i := range 30 {
			c.addPod("n1", fmt.Sprint("big-", i), "big")
		}
		c.mark("big", "big", `[{name: p, containerName: main, podConditionType: example.com/big, probe: {exec: {command: [sh, -c, "`+strings.Repeat("x", 60<<10)+`"]}}}]`)
		c.pause(time.Minute)
		c.mark("victim", "victim", `[{name: p, containerName: main, podConditionType: example.com/victim, probe: {exec: {command: [ok]}}}]`)
		c.pause(time.Minute)
		expect(c, "the probes of the node", []string{"n1 victim-0 victim#p"}, c.probed())
		if n := c.events.Count("ProbesLeftOut"); n != 1 {
			c.Errorf("%d events about probes that are left out", n)
		}
		if got := c.pod("big-7"); !strings.Contains(got, "example.com/big=Unknown") {
			c.Errorf("the pod says %s", got)
		}
		c.FailBefore(nil)
	})
}
