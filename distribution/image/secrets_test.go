// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// copyName is the name of the copy of a secret.
func copyName(name string) string {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
	return copied
}

// addSecret adds a secret with credentials, in whose place stands a word.
func (c *cluster) addSecret(name, word string) {
	c.Helper()
	_, err := c.kube.CoreV1().Secrets(namespace).Create(c.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(word)},
	}, metav1.CreateOptions{})
	c.must(err)
	synctest.Wait()
}

func (c *cluster) editSecret(name string, change func(*corev1.Secret)) {
	c.Helper()
	secret, err := c.kube.CoreV1().Secrets(namespace).Get(c.Context(), name, metav1.GetOptions{})
	c.must(err)
	change(secret)
	_, err = c.kube.CoreV1().Secrets(namespace).Update(c.Context(), secret, metav1.UpdateOptions{})
	c.must(err)
}

// copies shows the secrets in the namespace of the agents, as "source: content, for jobs".
func (c *cluster) copies() []string {
	c.Helper()
	list, err := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).List(c.Context(), metav1.ListOptions{})
	c.must(err)
	out := []string{}
	for _, s := range list.Items {
		var content []string
		for key, data := range s.Data {
			content = append(content, key+" "+string(data))
		}
		out = append(out, fmt.Sprintf("%s: %s, for %s", s.Annotations["imagepulljobs.kruise.io/source-key"], strings.Join(content, " "), s.Annotations["imagepulljobs.kruise.io/references"]))
	}
	slices.Sort(out)
	return out
}

func (c *cluster) expectCopies(what string, want ...string) {
	c.Helper()
	if diff := cmp.Diff(append([]string{}, want...), c.copies()); diff != "" {
		c.Errorf("%s: copies (-want +got):\n%s", what, diff)
	}
}

// IMG-1.6: jobs that name the same secret share a copy, from their beginning to their
// end. The end may be completion, deletion, or a change of the job.
func TestSecretsAreCopied(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(2)
		c.addSecret("s", "one")
		c.addJob("a", "pullSecrets: [s]\ncompletionPolicy: {ttlSecondsAfterFinished: 5}")
		c.pause(time.Second)
		c.expectCopies("a job", "default/s: .dockerconfigjson one, for default/a")
		c.expectTasks("and its task", "n0000 nginx:1 v1 a")
		refs := c.nodeImage("n0000").Spec.Images["nginx"].PullSecrets
		if diff := cmp.Diff([]v1alpha1.ReferenceObject{{Namespace: "kruise-daemon-config", Name: copyName("s")}}, refs); diff != "" {
			c.Errorf("references (-want +got):\n%s", diff)
		}
		c.expectSent("requests", []string{"1 create secrets", "1 patch imagepulljobs/status", "1 patch nodeimages", "2 get secrets"}, []string{})

		c.addJob("b", "pullSecrets: [s]\ncompletionPolicy: {type: Never}\nparallelism: 9")
		c.addJob("c", "pullSecrets: [s]\ncompletionPolicy: {type: Never}\nparallelism: 9")
		c.pause(time.Second)
		c.expectCopies("two more", "default/s: .dockerconfigjson one, for default/a,default/b,default/c")
		for range 2 {
			c.agents(always(succeeded))
			c.pause(time.Second)
		}
		c.expectMessage("a", "job has completed")
		c.expectCopies("one has completed", "default/s: .dockerconfigjson one, for default/b,default/c")
		c.deleteJob("b")
		c.pause(time.Second)
		c.expectCopies("one is deleted", "default/s: .dockerconfigjson one, for default/c")
		_, err := c.jobs.Patch(c.Context(), "c", types.MergePatchType, []byte(`{"spec":{"pullSecrets":[]}}`), metav1.PatchOptions{})
		c.must(err)
		c.pause(time.Second)
		c.expectCopies("one needs it no more")
		c.deleteJob("c")
	})
}

// IMG-1.6: copies follow their sources, at the latest after two minutes.
func TestCopiesAreCurrent(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		c.addSecret("s", "one")
		c.addJob("pull", "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
		const message = "job is running, progress 0.0%"
		c.pause(time.Second)
		c.agents(always(v1alpha1.ImagePhasePulling))
		c.editSecret("s", func(s *corev1.Secret) { s.Data[corev1.DockerConfigJsonKey] = []byte("two") })
		c.pause(2 * time.Minute)
		c.expectCopies("changed", "default/s: .dockerconfigjson two, for default/pull")

		c.must(c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).Delete(c.Context(), copyName("s"), metav1.DeleteOptions{}))
		c.pause(15 * time.Second)
		c.expectCopies("somebody has deleted the copy", "default/s: .dockerconfigjson two, for default/pull")

		c.must(c.kube.CoreV1().Secrets(namespace).Delete(c.Context(), "s", metav1.DeleteOptions{}))
		c.pause(2*time.Minute + 10*time.Second)
		c.expectCopies("the source is deleted")
		c.expectMessage("pull", message+"; pull secret s is left out: it does not exist")

		c.addSecret("s", "three")
		c.pause(2*time.Minute + 10*time.Second)
		c.expectCopies("and is back", "default/s: .dockerconfigjson three, for default/pull")
		c.expectMessage("pull", message)
		c.agents(always(succeeded))
		c.pause(10 * time.Second)
		c.ForgetRequests()
		c.pause(time.Hour)
		c.expectSent("IMG-1.6: nothing changes for an hour", []string{"60 get secrets"}, nil)
	})
}

// IMG-1.6: what cannot be copied gives the job a message, and its tasks all the same;
// and it is not asked for over and over.
func TestSecretsThatCannotBeCopied(t *testing.T) {
	refuse := func(namespace string, err error) func(fakecluster.Request) error {
		return func(r fakecluster.Request) error {
			if r.User == jobUser && r.Resource == "secrets" && r.Namespace == namespace && r.Verb != "list" && r.Verb != "watch" {
				return err
			}
			return nil
		}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "s", errors.New("no"))
	noNamespace := func(r fakecluster.Request) error {
		if r.Verb == "create" && r.Resource == "secrets" && r.User == jobUser {
			return apierrors.NewNotFound(corev1.Resource("namespaces"), r.Namespace)
		}
		return nil
	}
	for name, test := range map[string]struct {
		prepare func(*cluster)
		message string
	}{
		"missing":   {func(*cluster) {}, "it does not exist"},
		"Opaque":    {func(c *cluster) { c.addSecretOf(corev1.Secret{Type: corev1.SecretTypeOpaque}) }, "it is of type Opaque, want kubernetes.io/dockerconfigjson"},
		"forbidden": {func(c *cluster) { c.addSecret("s", "x"); c.FailBefore(refuse(namespace, forbidden)) }, "the manager may not read it"},
		"forbidden to copy": {func(c *cluster) {
			c.addSecret("s", "x")
			c.FailBefore(refuse(v1alpha1.DaemonConfigNamespace, forbidden))
		},
			"the manager may not copy it to namespace kruise-daemon-config"},
		"no namespace": {func(c *cluster) { c.addSecret("s", "x"); c.FailBefore(noNamespace) }, "namespace kruise-daemon-config, in which nodes find it, does not exist"},
		"refused": {func(c *cluster) {
			c.addSecret("s", "x")
			c.FailBefore(refuse(v1alpha1.DaemonConfigNamespace, apierrors.NewBadRequest("a policy of yours")))
		},
			"its copy in namespace kruise-daemon-config is refused: a policy of yours"},
		"a copy of another one": {func(c *cluster) {
			c.addSecretOf(corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: "bank/s"}}, Type: corev1.SecretTypeDockerConfigJson})
		}, "it says to be a copy of another one"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				c.begin(1)
				test.prepare(c)
				c.addJob("pull", "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
				c.pause(time.Second)
				c.agents(always(v1alpha1.ImagePhasePulling))
				c.ForgetRequests()
				c.pause(20 * time.Minute)
				c.expectMessage("pull", "job is running, progress 0.0%; pull secret s is left out: "+test.message)
				c.expectTasks("without the secret", "n0000 nginx:1 v1 pull")
				c.expectCopies("none")
				if asked := c.Count(jobUser)["get secrets"] + c.Count(jobUser)["create secrets"]; asked > 3*11 {
					t.Errorf("%d requests in 20 minutes", asked)
				}
				c.FailBefore(nil)
			})
		})
	}
}

func (c *cluster) addSecretOf(secret corev1.Secret) {
	c.Helper()
	secret.Name, secret.Data = "s", map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")}
	_, err := c.kube.CoreV1().Secrets(namespace).Create(c.Context(), &secret, metav1.CreateOptions{})
	c.must(err)
}

// IMG-1.6: copies that were left over go when a manager starts; what is no copy stays.
func TestCopiesThatAreLeftOver(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		c.addSecret("s", "one")
		c.addSecret("t", "one")
		for name, secret := range map[string]string{"gone": "s", "stays": "s", "over": "t"} {
			c.addJob(name, "pullSecrets: ["+secret+"]\ncompletionPolicy: {type: Never}")
		}
		c.pause(time.Second)
		c.stop()
		c.deleteJob("gone")
		_, err := c.jobs.Patch(c.Context(), "over", types.MergePatchType, []byte(`{"status":{"completionTime":"2000-01-01T00:00:00Z"}}`), metav1.PatchOptions{}, "status")
		c.must(err)
		secrets := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace)
		for name, labels := range map[string]map[string]string{"without-references": {v1alpha1.PullSecretSourceUIDLabel: "x"}, "somebodys": nil} {
			_, err := secrets.Create(c.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
			c.must(err)
		}
		c.share()
		c.start()
		c.pause(time.Second)
		c.expectCopies("after the start", ": , for ", "default/s: .dockerconfigjson one, for default/stays")
	})
}

// IMG-1.6: whatever answer is lost, and whatever other clients write at the same time, the copies
// come and go.
func TestCopiesAmidFaults(t *testing.T) {
	for _, what := range []string{"create secrets", "update secrets", "delete secrets", "get secrets"} {
		for kind, err := range map[string]error{"lost": fixture.ErrLost, "refused": fixture.ErrInternal, "conflict": apierrors.NewConflict(corev1.Resource("secrets"), "s", errors.New("no"))} {
			t.Run(what+" "+kind, func(t *testing.T) {
				play(t, func(t *testing.T, c *cluster) {
					c.begin(1)
					c.addSecret("s", "one")
					var happened atomic.Int32
					fail := failing(jobUser, what, 2, err)
					count := func(r fakecluster.Request) error {
						err := fail(r)
						if err != nil {
							happened.Add(1)
						}
						return err
					}
					if kind == "lost" {
						c.FailAfter(count)
					} else {
						c.FailBefore(count)
					}
					for _, name := range []string{"a", "b", "c"} {
						c.addJob(name, "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
					}
					c.pause(time.Minute)
					c.expectCopies("there", "default/s: .dockerconfigjson one, for default/a,default/b,default/c")
					for _, name := range []string{"a", "b", "c"} {
						c.deleteJob(name)
					}
					c.pause(time.Minute)
					c.expectCopies("gone")
					if happened.Load() == 0 {
						t.Error("nothing happened")
					}
				})
			})
		}
	}
}

// IMG-1.6: with the option, secrets are referred to where they are, and copies that
// were made before go.
func TestReferToSourceSecrets(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		c.addSecret("s", "one")
		c.addJob("before", "pullSecrets: [s]\ncompletionPolicy: {type: Never}")
		c.pause(time.Second)
		c.stop()
		c.jobOptions.ReferToSourceSecrets = true
		c.share()
		c.start()
		c.addJob("pull", "pullSecrets: [s]")
		c.pause(time.Second)
		c.expectCopies("released")
		refs := c.nodeImage("n0000").Spec.Images["nginx"].PullSecrets
		if diff := cmp.Diff([]v1alpha1.ReferenceObject{{Namespace: "default", Name: "s"}}, refs); diff != "" {
			c.Errorf("references (-want +got):\n%s", diff)
		}
	})
}

// IMG-1.6: a manager of one namespace leaves alone the copies that jobs of others need. A manager whose shared informer
// leaves jobs out does so, too.
func TestOtherManagersKeepTheirCopies(t *testing.T) {
	for _, restrict := range []struct {
		name string
		to   func(*cluster)
	}{
		{"a manager of one namespace", func(c *cluster) { c.jobOptions.Namespace = namespace }},
		{"a shared informer of one namespace", func(c *cluster) {
			c.jobOptions.ImagePullJobs = client.NewImagePullJobInformer(c.distribution("caches"), namespace, 0, cache.Indexers{})
			c.run(func(ctx context.Context) error { c.jobOptions.ImagePullJobs.RunWithContext(ctx); return nil })
		}},
	} {
		t.Run(restrict.name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				c.startNodes()
				c.addNodes(1)
				c.pause(40 * time.Second)
				jobs := c.distribution(testUser).ImagePullJobs("team-b")
				_, err := jobs.Create(t.Context(), &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "pull"},
					Spec: v1alpha1.ImagePullJobSpec{Image: "nginx:1", PullSecrets: []string{"s"},
						CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Never}}}, metav1.CreateOptions{})
				c.must(err)
				_, err = c.kube.CoreV1().Secrets("team-b").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"},
					Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("b")}}, metav1.CreateOptions{})
				c.must(err)
				other, err := imagepulljob.New(imagepulljob.Options{Distribution: c.distribution("b"), Kubernetes: c.kubernetes("b"), ControllerOptions: podwright.ControllerOptions{Namespace: "team-b"}})
				c.must(err)
				c.run(other.Run)
				c.pause(40 * time.Second)
				const copied = "team-b/s: .dockerconfigjson b, for team-b/pull"
				c.expectCopies("its own manager", copied)

				restrict.to(c)
				own, err := imagepulljob.New(c.jobOptions)
				c.must(err)
				c.run(own.Run)
				c.pause(time.Minute)
				c.expectCopies("a manager of another namespace has started", copied)
				for request, n := range c.Count(jobUser) {
					if n > 1 && strings.HasSuffix(request, " secrets") && request != "watch secrets" && request != "list secrets" {
						c.Errorf("it has sent %d times %s", n, request)
					}
				}
				c.must(jobs.Delete(t.Context(), "pull", metav1.DeleteOptions{}))
				c.pause(time.Minute)
				c.expectCopies("the job is deleted")
			})
		})
	}
}
