// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var requestResource = fakecluster.CustomResource(lifecyclev1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests")

// cluster is a fake cluster whose node runs pods to their end. What a container exits with when
// it is stopped is the tag of its image: log:0, or log:137.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	requests client.ContainerRecreateRequestInterface
	// noAgent has no agent serve requests.
	noAgent bool
	// unpulled is an image that cannot be pulled.
	unpulled string
	// late is how long the kubelet's own watch takes to show it what others write.
	late time.Duration
}

func newCluster(f *fixture.Cluster) *cluster {
	o := Options{Kubernetes: f.Client(fixture.ControllerUser), Lifecycle: lifecycleClient(f, fixture.ControllerUser),
		ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of}}
	return &cluster{Kind: &fixture.Kind[Options, Snapshot, Plan]{Cluster: f, Of: tested, Options: o},
		requests: lifecycleClient(f, fixture.TestUser).ContainerRecreateRequests(fixture.Web.Namespace)}
}

func lifecycleClient(f *fixture.Cluster, user string) client.Interface {
	f.T.Helper()
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

func (c *cluster) createNodes() {
	c.T.Helper()
	for _, node := range nodes {
		_, err := c.Kube.CoreV1().Nodes().Create(c.T.Context(), node.DeepCopy(), metav1.CreateOptions{})
		c.Must(err)
	}
	synctest.Wait()
}

// create creates a pod as podOf describes it, of which the kubelet runs all containers.
// The images of sidecars have the tags.
func (c *cluster) create(name, text string, tags ...string) {
	c.T.Helper()
	pod := podOf(c.T, text)
	pod.ObjectMeta = metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name}
	sidecar := 0
	for i := range pod.Spec.Containers {
		spec := &pod.Spec.Containers[i]
		if isMarked(spec) && sidecar < len(tags) {
			spec.Image = spec.Name + ":" + tags[sidecar]
			sidecar++
		}
	}
	pod.Status = corev1.PodStatus{}
	c.CreatePod(pod)
	c.kubelet()
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// exit ends a container.
func (c *cluster) exit(pod, container string, code int32) {
	c.T.Helper()
	c.write(pod, func(p *corev1.Pod) { end(podstate.ContainerStatus(p, container), code) })
}

// write writes what a change makes of the status of a pod, with the phase that a kubelet comes to. It
// changes the newest pod, since the controller may write at the same time. Nothing is written if nothing
// changes.
func (c *cluster) write(name string, change func(*corev1.Pod)) {
	c.T.Helper()
	for {
		pod := c.pod(name)
		before := fmt.Sprint(pod.Status)
		if change(pod); fmt.Sprint(pod.Status) == before {
			return
		}
		pod.Status.Phase = kubeletPhase(pod)
		_, err := c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(c.T.Context(), pod, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			continue
		}
		c.Must(err)
		synctest.Wait()
		return
	}
}

// kubelet makes one step for every pod. It replaces containers whose image has changed,
// and starts those that have ended again if their pod wants it. In the step after it
// learns of a final phase, it ends what the pod still runs.
func (c *cluster) kubelet() {
	c.T.Helper()
	for _, name := range c.PodNames() {
		c.write(name, func(pod *corev1.Pod) {
			if unaware(pod) && time.Since(readiness.Condition(pod, v1alpha1.SidecarTerminatedCondition).LastTransitionTime.Time) >= c.late {
				learn(pod)
				return
			}
			runContainers(pod, c.unpulled)
		})
	}
}

// agent makes one step for every request: what admission leaves in it, its phase, the
// containers that it stops, its end.
func (c *cluster) agent() {
	c.T.Helper()
	synctest.Wait() // the controller may be at work on what has just gone
	list, err := c.requests.List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range list.Items {
		r := &list.Items[i]
		if !strings.HasPrefix(r.Name, "sidecar-termination-") || r.Status.CompletionTime != nil {
			continue
		}
		pod := c.pod(r.Spec.PodName)
		switch {
		case r.Spec.Containers[0].StatusContext == nil:
			fillIn(r, pod)
			_, err := c.requests.Update(c.T.Context(), r, metav1.UpdateOptions{})
			c.Must(err)
			synctest.Wait()
		case c.noAgent:
			if time.Since(r.CreationTimestamp.Time) >= time.Minute {
				c.patchRequest(r, fmt.Sprintf(`{"status":{"phase":"Completed","message":%q,"completionTime":%q}}`,
					lifecyclev1alpha1.ContainerRecreateMessageNoResponse, time.Now().UTC().Format(time.RFC3339)), "status")
			}
		case r.Status.Phase == "":
			c.patchRequest(r, `{"status":{"phase":"Recreating"}}`, "status")
		default:
			c.write(pod.Name, func(pod *corev1.Pod) { stopContainers(r, pod) })
		}
	}
}

func (c *cluster) patchRequest(r *lifecyclev1alpha1.ContainerRecreateRequest, patch string, subresources ...string) {
	c.T.Helper()
	_, err := c.requests.Patch(c.T.Context(), r.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	c.Must(err)
	synctest.Wait()
}

// work has kubelet and agent work for a time.
func (c *cluster) work(d time.Duration) {
	c.T.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		c.agent()
		c.kubelet()
		c.Sleep("500ms")
	}
}

// show says what has become of a pod.
func (c *cluster) show(name string) string {
	c.T.Helper()
	pod := c.pod(name)
	text := string(pod.Status.Phase)
	for _, s := range pod.Status.ContainerStatuses {
		switch state := s.State; {
		case state.Terminated != nil:
			text += fmt.Sprintf(" %s:%d", s.Name, state.Terminated.ExitCode)
		case state.Running != nil:
			text += fmt.Sprintf(" %s:running", s.Name)
		case state.Waiting != nil:
			text += fmt.Sprintf(" %s:%s", s.Name, state.Waiting.Reason)
		}
		if s.RestartCount > 0 {
			text += fmt.Sprintf("@%d", s.RestartCount)
		}
	}
	return text
}
