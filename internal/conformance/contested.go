// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
)

// contested: another writer takes back each change of an object at once, for an hour. It is made again less and less
// often. (CT-12)
func contested(t *testing.T, k *Kind, want calm) {
	for _, write := range k.PutsBack {
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
				c.fail(nil, nil)
				c.minutes(15)
				c.settle()
				c.expect(name, want)
			})
		})
	}
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
	put := c.Kube.CoreV1().RESTClient().Put().AbsPath(path).Namespace(r.Namespace).Resource(r.Resource).Name(r.Name)
	_ = put.SubResource(strings.FieldsFunc(r.Subresource, func(c rune) bool { return c == '/' })...).SetHeader("Content-Type", "application/json").
		Body(data).Do(c.T.Context()).Error() // a conflict is one of several changes that came at the same time
}
