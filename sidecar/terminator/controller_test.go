// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestRequests pins what a pod costs: one request to stop sidecars, one to set images,
// and one for the phase. There is none before and after, and none for a pod without
// sidecars.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		name, pod, code string
		want            []string
	}{
		{"a sidecar that exits with 0", "OnFailure main: a=r:", "0", []string{"10 create containerrecreaterequests"}},
		{"one that exits with 137", "OnFailure main: a=r:", "137", []string{"10 create containerrecreaterequests", "10 patch pods/status"}},
		{"and Never", "Never main: a=r:", "137", []string{"10 create containerrecreaterequests", "10 patch pods/status"}},
		{"by image", "Never main: a=i:", "137", []string{"10 patch pods"}},
		{"none", "Never main: a:", "137", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				reconciles, stop := c.start(nil)
				defer stop()
				synctest.Wait()
				names := []string{}
				for i := range 10 {
					names = append(names, fmt.Sprint("web-", i))
					c.create(names[i], test.pod, test.code)
				}
				c.work(2e9)
				if reconciles.Count() > 0 {
					t.Errorf("ST-4: %d reconciles while the main containers run", reconciles.Count())
				}
				c.ForgetRequests()
				for _, name := range names {
					c.exit(name, "main", 0)
				}
				c.work(10e9)
				if diff := cmp.Diff(test.want, c.Sent()); diff != "" {
					t.Errorf("(-want +got) %s", diff)
				}
				c.Sleep("10m")
				c.ForgetRequests()
				before := reconciles.Count()
				for i := range 10 {
					c.Heartbeat(i)
					c.Sleep("1m")
				}
				if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
					t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
				}
			})
		})
	}
}

// The kubelet has come to a phase that the cache does not show: it is final, and is not
// overwritten. (ST-16)
func TestPhaseOfTheKubelet(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		c.create("web", "Never main: a=r:", "137")
		c.FailBefore(func(r fakecluster.Request) error { // it fails in the moment in which the phase is to be written
			if r.User == fixture.ControllerUser && r.String() == "patch pods/status" && c.pod("web").Status.Phase == corev1.PodRunning {
				pod := c.pod("web")
				end(&pod.Status.ContainerStatuses[1], 137)
				pod.Status.Phase = corev1.PodFailed
				_, err := c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
				c.Must(err)
			}
			return nil
		})
		c.exit("web", "main", 0)
		c.Sleep("1m")
		if got := c.show("web"); got != "Failed main:0 a:137" {
			t.Errorf("got %s", got)
		}
	})
}

// A reconcile comes too late, or is about a pod that is none of its concern: it does nothing. (ST-5)
func TestPodThatIsGone(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("gone", "OnFailure main: a=r:", "0")
		c.create("other", "OnFailure main: a:")
		controller, err := New(Options{Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: lifecycleClient(c.Cluster, fixture.ControllerUser)})
		c.Must(err)
		defer c.Start(controller.Run)()
		c.Sleep("1s")
		c.RemovePod("gone")
		c.Sleep("1s")
		c.ForgetRequests()
		for _, name := range []string{"gone", "other", "never"} {
			key := types.NamespacedName{Namespace: fixture.Web.Namespace, Name: name}
			if after, err := controller.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("%s: again after %s, error %v", name, after, err)
			}
			if plan, err := controller.Plan(t.Context(), key); plan != nil || err != nil {
				t.Errorf("%s: plan %v, error %v", name, plan, err)
			}
			if s, err := controller.Snapshot(t.Context(), key); s != nil || err != nil {
				t.Errorf("%s: snapshot %v, error %v", name, s, err)
			}
		}
		if sent := c.Sent(); len(sent) > 0 {
			t.Errorf("requests %v", sent)
		}
	})
}

// What the kubelet does between the phase and the request counts. It acts at once on an annotation that has changed. Until then it
// may write the phase that it knows over the one that was given. (ST-13.1, ST-15)
func TestPhaseIsGivenAgain(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		c.create("web", "Never main: a=r:", "137")
		c.exit("web", "main", 0)
		c.Sleep("100ms")
		first := c.pod("web")
		if first.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] == "" {
			t.Errorf("ST-13.1: annotations %v", first.Annotations)
		}
		c.Sleep("10s")
		c.write("web", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })
		c.Sleep("100ms")
		again := c.pod("web")
		if again.Status.Phase != corev1.PodSucceeded || again.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] == first.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] {
			t.Errorf("ST-13.1: %s, annotations %v after %v", again.Status.Phase, again.Annotations, first.Annotations)
		}
		c.Sleep("19s")
		if sent := strings.Join(c.Sent(), ", "); strings.Contains(sent, "create containerrecreaterequests") {
			t.Errorf("ST-15.2: after 29s: %s", sent)
		}
		c.Sleep("2s")
		if sent := strings.Join(c.Sent(), ", "); !strings.Contains(sent, "create containerrecreaterequests") {
			t.Errorf("ST-15.2: after 31s: %s", sent)
		}
	})
}
