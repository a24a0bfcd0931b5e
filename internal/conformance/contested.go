// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
)

// contested: another writer takes back each change of an object at once, for an hour. It is made again less and less
// often, whatever is patched or updated. (CT-12)
func contested(t *testing.T, k *Kind, want calm) {
	for _, write := range k.Writes {
		changes := strings.HasPrefix(write, "patch ") || strings.HasPrefix(write, "update ")
		if !changes || !k.Contested || write == "patch pods/ephemeralcontainers" { // these the API server lets no writer take back
			continue
		}
		t.Run(write, func(t *testing.T) {
			k.play(t, func(c *Cluster) {
				c.fail(nil, func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && r.String() == write && !r.DryRun {
						time.AfterFunc(10*time.Millisecond, func() { c.takeBack(&r) })
					}
					return nil
				})
				defer c.start()()
				c.kind.Create(c, name)
				c.steps(10)
				c.change(name)
				c.steps(10)
				c.minutes(40)
				before := c.perObject()
				c.minutes(20)
				c.expectFew(before, 10*mostAnHour)
				c.logMost(before)
				c.fail(nil, nil)
				c.minutes(15)
				c.settle()
				c.expect(name, want)
			})
		})
	}
}

// logMost says which request there was most often, and how often.
func (c *Cluster) logMost(before map[string]int) {
	n, most := c.perObject(), ""
	for request := range n {
		if most == "" || n[request] > n[most] {
			most = request
		}
	}
	c.T.Logf("%s: %d requests in an hour, %d of them in its last 20 minutes", most, n[most], n[most]-before[most])
}

// takeBack makes the object of a write what it was before, if that is the last one.
func (c *Cluster) takeBack(r *fakecluster.Request) {
	changes := slices.DeleteFunc(c.Changes(r.Resource, c.NewestVersion()-500), func(ch fakecluster.Change) bool {
		return ch.Object.GetNamespace() != r.Namespace || ch.Object.GetName() != r.Name
	})
	if len(changes) < 2 || changes[len(changes)-1].Gone || changes[len(changes)-2].Gone {
		return
	}
	before := changes[len(changes)-2].Object.DeepCopy()
	before.SetResourceVersion(changes[len(changes)-1].Object.GetResourceVersion())
	data, err := before.MarshalJSON()
	if err != nil {
		return
	}
	path := "/apis/" + before.GetAPIVersion()
	if !strings.Contains(before.GetAPIVersion(), "/") {
		path = "/api/" + before.GetAPIVersion()
	}
	put := c.Kube.CoreV1().RESTClient().Put().AbsPath(path).NamespaceIfScoped(r.Namespace, r.Namespace != "").Resource(r.Resource).Name(r.Name)
	if err := put.SubResource(strings.FieldsFunc(r.Subresource, func(c rune) bool { return c == '/' })...).SetHeader("Content-Type", "application/json").
		Body(data).Do(c.T.Context()).Error(); err != nil && !apierrors.IsConflict(err) { // a conflict is one of several changes that came at the same time
		c.T.Errorf("take back %s %s: %v", r.String(), r.Name, err)
	}
}
