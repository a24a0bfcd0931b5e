// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// A pull that takes its time is reported when it begins. It goes on after the
// agent and then containerd were killed, as the one that was reported, and the
// image is downloaded once. The runtime does not tell how far it is.
func TestImagePullIsInterrupted(t *testing.T) {
	testbed.Long(t)
	p := newPuller(t)
	image, byDigest := p.image("v1", registry.Image{})
	release := p.hold(image)
	p.pull("slow", image)
	began := p.awaitState(nodeName(0), image, v1alpha1.ImagePhasePulling)
	p.awaitHeld(image, 1)
	p.awaitJob("slow", "active", counts(1, 1, 0, 0))
	restartAgent(t, bed.Agents[0], func() { p.awaitHeld(image, 0) })
	p.awaitHeld(image, 1)
	restart(t, bed.Agents[0].Node, cluster.Containerd, func() { p.awaitHeld(image, 0) })
	p.awaitHeld(image, 1)
	release()
	p.completed("slow")
	state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseSucceeded)
	if began.Progress != 0 || !state.StartTime.Equal(began.StartTime) || state.Progress != 100 || !strings.HasPrefix(state.ImageID, strings.TrimSuffix(image, ":v1")+"@sha256:") {
		t.Errorf("began as %+v, ended as %+v", began, state)
	}
	p.checkPulls(image, 1)
	if !p.onNode(0, image) || !p.onNode(0, byDigest) || p.onNode(1, image) {
		t.Error("the image is not there, or on the other node too")
	}
}

// An agent pulls as many images at the same time as its flag says, and then the
// others: the oldest task is first.
func TestImageConcurrency(t *testing.T) {
	testbed.Long(t)
	p := newPuller(t)
	usual := bed.Agents[0]
	usual.Kill()
	agent, err := bed.NewAgent(t.Context(), usual.Node, "--concurrency=2")
	if err != nil {
		t.Fatal(err)
	}
	restartAgent(t, agent, func() {})
	defer restartAgent(t, usual, agent.Kill)
	var held []string
	var releases []func()
	for i := range 4 {
		image, _ := p.image(fmt.Sprint("v", i), registry.Image{})
		held, releases = append(held, image), append(releases, p.hold(image))
		p.pull(fmt.Sprint("pull-", i), image)
		p.awaitState(nodeName(0), image, v1alpha1.ImagePhasePulling)
		if i < 2 {
			p.awaitHeld(image, 1)
		}
	}
	for i := range 4 {
		for j, image := range held {
			under := j >= i && j < i+2
			if n := bed.Control.Images().Waiting(image); n > 0 != under {
				t.Errorf("after %d of 4 pulls, %d of number %d are under way", i, n, j)
			}
		}
		releases[i]()
		p.completed(fmt.Sprint("pull-", i))
		if i < 2 {
			p.awaitHeld(held[i+2], 1)
		}
	}
}

// An image is pulled by its digest, beside which a tag does not count. One that
// is there already is not pulled again, whichever job asks for it.
func TestImageByDigest(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, byDigest := p.image("v1", registry.Image{})
	_, digest := cut(byDigest)
	p.pull("digest", image+"@"+digest)
	p.completed("digest")
	p.awaitState(nodeName(0), byDigest, v1alpha1.ImagePhaseSucceeded)
	p.checkPulls(byDigest, 1)
	p.pull("again", byDigest)
	p.completed("again")
	p.checkPulls(byDigest, 1)
	p.checkPulls(image, 0)
	p.pull("tag", image)
	p.completed("tag")
	p.checkPulls(image, 1)
}

// An official image of Docker Hub is pulled, and found, by its short name.
func TestImageOfDockerHub(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	full, short := "docker.io/library/"+p.Namespace+":v1", p.Namespace+":v1"
	if _, err := bed.Control.Images().Add(full, registry.Image{}); err != nil {
		t.Fatal(err)
	}
	p.pull("full", full)
	p.completed("full")
	if state := p.awaitState(nodeName(0), short, v1alpha1.ImagePhaseSucceeded); !strings.HasPrefix(state.ImageID, p.Namespace+"@sha256:") {
		t.Errorf("reported %+v", state)
	}
	p.remove("full", short)
	p.pull("short", short)
	p.completed("short")
	p.checkPulls(full, 1)
}

// An image that does not exist fails in the words of the runtime, after the
// attempts that the job allows, with pauses between them. Job and node get events.
func TestImageIsMissing(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image := "registry.test/" + p.Namespace + ":missing"
	for range 2 { // the second event of the node is counted with the first
		p.pull("missing", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullPolicy.BackoffLimit = new(int32(2)) })
		p.failed("missing", v1alpha1.ImagePullJobMessageCompleted)
		state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseFailed)
		if !strings.Contains(state.Message, "not found") {
			t.Errorf("message %q", state.Message)
		}
		p.took("two pauses", state.StartTime.Time, state.CompletionTime.Time, 3*time.Second)
		p.remove("missing", image)
	}
	p.awaitEvent("ImagePullJob", p.Namespace, "missing", image, 1)
	p.awaitEvent("NodeImage", "default", nodeName(0), image, 2)
}

// awaitEvent waits until the failure of an image was told so often of an object.
func (p *puller) awaitEvent(kind, namespace, name, image string, times int32) {
	p.Helper()
	p.AwaitAsking("event about "+kind, func() string {
		events, err := bed.Core.CoreV1().Events(namespace).List(p.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, e := range events.Items {
			if e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name && e.Reason == v1alpha1.ImagePullEventFailed &&
				e.Type == corev1.EventTypeWarning && e.Source.Component == v1alpha1.ImagePullAgentEventSource && e.Source.Host == nodeName(0) &&
				strings.HasPrefix(e.Message, "Image "+image+", ") && e.Count >= times {
				return ""
			}
		}
		return fmt.Sprintf("%d others", len(events.Items))
	})
}

// A registry that refuses is asked again, and what it says can be read meanwhile.
func TestImageRegistryRefuses(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	for _, status := range []int{429, 500} {
		image, _ := p.image(fmt.Sprint("v", status), registry.Image{})
		behave(t, image, registry.Behaviour{Status: status})
		job := fmt.Sprint("refused-", status)
		p.pull(job, image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullPolicy.BackoffLimit = new(int32(10)) })
		state := p.awaitReport(nodeName(0), image, "the answer of the registry", func(state v1alpha1.ImageTagStatus) bool {
			return strings.Contains(state.Message, fmt.Sprint(status))
		})
		if state.Phase != v1alpha1.ImagePhasePulling || state.CompletionTime != nil {
			t.Errorf("reported %+v", state)
		}
		behave(t, image, registry.Behaviour{})
		p.completed(job)
		if state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseSucceeded); state.Message != "" {
			t.Errorf("reported %+v", state)
		}
		p.checkPulls(image, 1)
	}
}

func behave(t *testing.T, image string, as registry.Behaviour) {
	t.Helper()
	if err := bed.Control.Images().Behave(image, as); err != nil {
		t.Fatal(err)
	}
}

// A registry that wants credentials gets those of the secrets, one after the
// other. Without the right one, the pull fails and names a secret that is missing.
func TestImageSecrets(t *testing.T) {
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	behave(t, image, registry.Behaviour{Username: "user", Password: "right"})
	p.secret("elsewhere", "other.test", "right")
	p.secret("wrong", "registry.test/"+p.Namespace, "wrong")
	p.secret("right", "https://registry.test/v2/"+p.Namespace, "right")
	for name, test := range map[string]struct {
		secrets []string
		message string
	}{
		"none":    {nil, "no basic auth credentials"},
		"missing": {[]string{"missing", "elsewhere"}, "secret " + p.Namespace + "/missing was left out"},
		"refused": {[]string{"wrong"}, "401"},
	} {
		p.pull(name, image, func(spec *v1alpha1.ImagePullJobSpec) {
			spec.PullSecrets, spec.PullPolicy.BackoffLimit = test.secrets, new(int32(0))
		})
		p.failed(name, v1alpha1.ImagePullJobMessageCompleted)
		if state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseFailed); !strings.Contains(state.Message, test.message) {
			t.Errorf("%s: message %q, want %q", name, state.Message, test.message)
		}
		p.remove(name, image)
	}
	p.checkPulls(image, 0)
	p.pull("several", image, func(spec *v1alpha1.ImagePullJobSpec) {
		spec.PullSecrets = []string{"elsewhere", "missing", "wrong", "right"}
	})
	p.completed("several")
	p.checkPulls(image, 1)
}

// An attempt ends when its time is up, also for the registry, and so does the job
// after the last of them.
func TestImageTimeout(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	p.hold(image)
	p.pull("stuck", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullPolicy.TimeoutSeconds = new(int32(10)) })
	p.awaitHeld(image, 1)
	p.failed("stuck", v1alpha1.ImagePullJobMessageCompleted)
	state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseFailed)
	if want := "pulling image " + image + " is canceled: it has taken longer than 10s"; state.Message != want {
		t.Errorf("message %q, want %q", state.Message, want)
	}
	p.took("two attempts and the pause between them", state.StartTime.Time, state.CompletionTime.Time, 21*time.Second)
	p.awaitHeld(image, 0)
}

// A job ends at its deadline, and the node gives the pull up. After its time to
// live the job is deleted, and the task with it.
func TestImageDeadline(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	p.hold(image)
	p.pull("late", image, func(spec *v1alpha1.ImagePullJobSpec) {
		spec.CompletionPolicy.ActiveDeadlineSeconds = new(int64(10))   // long enough to begin
		spec.CompletionPolicy.TTLSecondsAfterFinished = new(int32(30)) // long enough for what the node says to be seen
	})
	p.awaitHeld(image, 1)
	job := p.failed("late", v1alpha1.ImagePullJobMessageDeadline)
	p.took("the deadline", job.Status.StartTime.Time, job.Status.CompletionTime.Time, 10*time.Second)
	p.awaitHeld(image, 0)
	if state := p.awaitState(nodeName(0), image, v1alpha1.ImagePhaseFailed); state.Message != v1alpha1.ImagePullMessageDeadline {
		t.Errorf("message %q", state.Message)
	}
	p.Await("the job is deleted", func() string {
		if job, found := p.jobs.Named("late"); found {
			return fmt.Sprintf("%+v", job.Status)
		}
		return ""
	})
	p.took("the time to live", job.Status.CompletionTime.Time, time.Now(), 30*time.Second)
	p.awaitNoTask(image)
	if _, err := images.ImagePullJobs(p.Namespace).Get(t.Context(), "late", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the job: %v", err)
	}
}

// With a job, its task goes from the nodes, and the pull that is under way ends.
func TestImageJobGoes(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	p := newPuller(t)
	image, _ := p.image("v1", registry.Image{})
	p.hold(image)
	p.pull("needless", image)
	p.awaitHeld(image, 1)
	p.remove("needless", image)
	p.awaitHeld(image, 0)
	p.checkPulls(image, 0)
}
