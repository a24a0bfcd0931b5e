// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/nodeagent"
)

// puller is a scene with its jobs, and with what all nodes have to pull.
type puller struct {
	*scene
	jobs       *mirror.Mirror[*v1alpha1.ImagePullJob]
	nodeImages *mirror.Mirror[*v1alpha1.NodeImage]
}

func newPuller(t *testing.T) *puller {
	t.Helper()
	s := newScene(t)
	p := &puller{
		scene:      s,
		jobs:       testbed.Follow[*v1alpha1.ImagePullJob](s.Scene, mirror.Of(images.ImagePullJobs(s.Namespace)), nil),
		nodeImages: testbed.Follow[*v1alpha1.NodeImage](s.Scene, mirror.Of(images.NodeImages()), nil),
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, job := range p.jobs.All() {
				t.Logf("job %s: %+v", job.Name, job.Status)
			}
			for _, n := range p.nodeImages.All() {
				t.Logf("NodeImage %s: %+v\n%+v", n.Name, n.Spec, n.Status)
			}
		}
	})
	return p
}

// nodeName returns the name of a real node.
func nodeName(i int) string { return bed.Agents[i].Node.Name }

// pull creates a job that pulls an image to the first node, in two attempts.
func (p *puller) pull(name, image string, edits ...func(*v1alpha1.ImagePullJobSpec)) *v1alpha1.ImagePullJob {
	p.Helper()
	job := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ImagePullJobSpec{
		Image:      image,
		Selector:   &v1alpha1.ImagePullJobNodeSelector{Names: []string{nodeName(0)}},
		PullPolicy: &v1alpha1.PullPolicy{BackoffLimit: new(int32(1))},
	}}
	for _, edit := range edits {
		edit(&job.Spec)
	}
	job, err := images.ImagePullJobs(p.Namespace).Create(p.Context(), job, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return job
}

// awaitJob waits until wrong says nothing more of a job, and returns it.
func (p *puller) awaitJob(name, expected string, wrong func(*v1alpha1.ImagePullJobStatus) string) *v1alpha1.ImagePullJob {
	p.Helper()
	var job *v1alpha1.ImagePullJob
	p.Await("job "+name+": "+expected, func() string {
		var found bool
		if job, found = p.jobs.Named(name); !found {
			return "there is no such job"
		}
		return wrong(&job.Status)
	})
	return job
}

// counts wants a job to count its nodes so.
func counts(desired, active, succeeded, failed int32) func(*v1alpha1.ImagePullJobStatus) string {
	return func(s *v1alpha1.ImagePullJobStatus) string {
		if s.Desired != desired || s.Active != active || s.Succeeded != succeeded || s.Failed != failed {
			return fmt.Sprintf("%+v", *s)
		}
		return ""
	}
}

// completed waits until a job is over, for all of its nodes with success.
func (p *puller) completed(name string) *v1alpha1.ImagePullJob {
	p.Helper()
	job := p.awaitJob(name, "completed", unfinished)
	if s := &job.Status; s.Succeeded != s.Desired || s.Message != v1alpha1.ImagePullJobMessageCompleted {
		p.Errorf("job %s ends with %+v", name, *s)
	}
	return job
}

// failed waits until a job is over that has failed on the first node.
func (p *puller) failed(name, message string) *v1alpha1.ImagePullJob {
	p.Helper()
	job := p.awaitJob(name, "completed", unfinished)
	if wrong := counts(1, 0, 0, 1)(&job.Status); wrong != "" || !slices.Equal(job.Status.FailedNodes, []string{nodeName(0)}) || job.Status.Message != message {
		p.Errorf("job %s ends with %+v", name, job.Status)
	}
	return job
}

func unfinished(s *v1alpha1.ImagePullJobStatus) string {
	if s.CompletionTime == nil {
		return fmt.Sprintf("%+v", *s)
	}
	return ""
}

// cut splits the name of an image from its tag or its digest.
func cut(image string) (name, tag string) {
	if name, digest, found := strings.Cut(image, "@"); found {
		return name, digest
	}
	at := strings.LastIndex(image, ":")
	return image[:at], image[at+1:]
}

// awaitState waits until a node reports a phase of an image, and returns what it reports.
func (p *puller) awaitState(node, image string, phase v1alpha1.ImagePullPhase) v1alpha1.ImageTagStatus {
	p.Helper()
	return p.awaitReport(node, image, string(phase), func(state v1alpha1.ImageTagStatus) bool { return state.Phase == phase })
}

// awaitReport waits until a node reports something of an image, and returns it.
func (p *puller) awaitReport(node, image, expected string, as func(v1alpha1.ImageTagStatus) bool) (state v1alpha1.ImageTagStatus) {
	p.Helper()
	name, tag := cut(image)
	p.Await(fmt.Sprintf("%s on %s: %s", image, node, expected), func() string {
		n, _ := p.nodeImages.Named(node)
		for _, state = range n.Status.ImageStatuses[name].Tags {
			if state.Tag == tag && as(state) {
				return ""
			}
		}
		return fmt.Sprintf("%+v of %+v", n.Status.ImageStatuses[name], n.Spec.Images[name])
	})
	return state
}

// remove deletes a job, and waits until no node has anything to do for it.
func (p *puller) remove(job, image string) {
	p.Helper()
	if err := images.ImagePullJobs(p.Namespace).Delete(p.Context(), job, metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
	p.awaitNoTask(image)
}

// awaitNoTask waits until no node has an image among its tasks.
func (p *puller) awaitNoTask(image string) {
	p.Helper()
	name, _ := cut(image)
	p.Await("no task is about "+name, func() string {
		for _, n := range p.nodeImages.All() {
			task, asked := n.Spec.Images[name]
			state, reported := n.Status.ImageStatuses[name]
			if asked || reported {
				return fmt.Sprintf("%s: %+v, %+v", n.Name, task, state)
			}
		}
		return ""
	})
}

// hold makes the registry hold requests for an image until release is called, or the test ends.
func (p *puller) hold(image string) (release func()) {
	p.Helper()
	release, err := bed.Control.Images().Hold(image)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(release)
	return release
}

// awaitHeld waits until that many nodes wait for an image.
func (p *puller) awaitHeld(image string, nodes int) {
	p.Helper()
	p.AwaitAsking(fmt.Sprintf("%d nodes wait for %s", nodes, image), func() string {
		if n := bed.Control.Images().Waiting(image); n != nodes {
			return fmt.Sprint(n)
		}
		return ""
	})
}

// checkPulls wants a number of answers of the registry that an image is there.
func (p *puller) checkPulls(image string, want int) {
	p.Helper()
	if got := bed.Control.Images().Pulls(image); got != want {
		p.Errorf("%d pulls of %s, want %d", got, image, want)
	}
}

// onNode tells whether the runtime of a node has an image.
func (p *puller) onNode(i int, image string) bool {
	p.Helper()
	runtime, err := nodeagent.Dial(p.Context(), bed.Agents[i].Node.CRISocket)
	if err != nil {
		p.Fatal(err)
	}
	defer runtime.Close()
	found, err := runtime.Image(p.Context(), image)
	if err != nil {
		p.Fatal(err)
	}
	return found != nil
}

// secret creates a secret with one password of the user for a registry, or for a path of one.
func (p *puller) secret(name, registry, password string) {
	p.Helper()
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, registry, base64.StdEncoding.EncodeToString([]byte("user:"+password)))
	_, err := bed.Core.CoreV1().Secrets(p.Namespace).Create(p.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
}
