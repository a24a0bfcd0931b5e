// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestStories plays what happens to the ImageListPullJob web: see fixture.PlayStories. "there a" creates the ImagePullJob that it wants of an
// image. One that is "free" has no owner and other secrets, one that is "stolen" is of another list. "jobs" shows them, "told" the events in
// their order, and "stored" the failures that the status names.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", listResource, func(c *fixture.Cluster) *fixture.Story {
		d := fixture.Connect(c.T, c.Server, fixture.ControllerUser, client.NewForConfig)
		test := fixture.Connect(c.T, c.Server, fixture.TestUser, client.NewForConfig)
		ofLists := c.Add(client.NewImageListPullJobInformer(d, "", 0, cache.Indexers{}))
		ofJobs := c.Add(client.NewImagePullJobInformer(d, "", 0, cache.Indexers{caches.ByOwner.Name: caches.ByOwner.Keys}))
		o := Options{Distribution: d, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{
			Reader: caches.Reader{resourceLists: ofLists.GetIndexer(), resourceJobs: ofJobs.GetIndexer()}}}
		s := fixture.NewKind(c, lists, o).Story(func(int32) any { return newJob(c.T, "") })
		maps.Copy(s.Further, map[string]func(...string) string{
			"there": func(words ...string) string {
				of, err := test.ImageListPullJobs("default").Get(c.T.Context(), fixture.Web.Name, metav1.GetOptions{})
				c.Must(err)
				job := one(of, words[0])
				switch strings.Join(words[1:], "") {
				case "free":
					job.OwnerReferences, job.Spec.PullSecrets = nil, []string{"theirs"}
				case "stolen":
					job.OwnerReferences[0].UID = "another"
				}
				_, err = test.ImagePullJobs("default").Create(c.T.Context(), job, metav1.CreateOptions{})
				c.Must(err)
				return ""
			},
			"jobs": func(...string) (out string) {
				all, err := test.ImagePullJobs("default").List(c.T.Context(), metav1.ListOptions{})
				c.Must(err)
				for _, job := range all.Items {
					out += fmt.Sprintf("%s of %s, version %s\n", job.Name, job.Spec.Image, job.ResourceVersion)
				}
				return out
			},
			"told": func(...string) string { return strings.Join(c.Events.All(), "\n") + "\n" },
			"stored": func(...string) string {
				return patches.JSON(c.T, c.Raw()["status"].(map[string]any)["failedImageStatuses"]) + "\n"
			},
		})
		return s
	}, jobResource)
}
