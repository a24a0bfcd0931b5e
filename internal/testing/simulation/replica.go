// SPDX-License-Identifier: Apache-2.0

package simulation

import "k8s.io/client-go/tools/cache"

// replica is what a process has seen of a resource: the past of the server, up
// to a point that moves as the seed says. It stands in the cache of an informer
// that never runs.
type replica struct {
	record   *record
	informer cache.SharedIndexInformer
	added    []func(Object) // called for objects that it sees for the first time
	at       int            // the changes that it has seen
	version  int64          // up to which it is complete
}

func newReplica(record *record) *replica {
	return &replica{record: record, informer: cache.NewSharedIndexInformer(&cache.ListWatch{}, record.empty(), 0, cache.Indexers{})}
}

// behind counts the changes that it has not seen.
func (c *replica) behind() int { return len(c.record.changes) - c.at }

// advance shows it the next change, as a watch does.
func (c *replica) advance() error {
	next := &c.record.changes[c.at]
	c.at++
	c.version = next.version
	if next.gone {
		return c.informer.GetIndexer().Delete(next.object)
	}
	isNew := len(c.added) > 0 && c.isNew(next.object)
	err := c.informer.GetIndexer().Update(next.object)
	if isNew {
		c.tell(next.object)
	}
	return err
}

// isNew tells whether it holds no object of that name and UID.
func (c *replica) isNew(object Object) bool {
	held, found, err := c.informer.GetIndexer().Get(object)
	return err != nil || !found || held.(Object).GetUID() != object.GetUID()
}

func (c *replica) tell(object Object) {
	for _, added := range c.added {
		added(object)
	}
}

// bookmark tells it how far it is, if it has seen everything.
func (c *replica) bookmark(version int64) {
	if c.behind() == 0 {
		c.version = version
		c.informer.GetIndexer().Bookmark(versionString(version))
	}
}

// relist fills it anew, as after a watch that was too old to go on.
func (c *replica) relist(version int64) error {
	objects := make([]any, 0, len(c.record.objects))
	var added []Object
	for _, object := range sorted[Object](c.record.objects) {
		objects = append(objects, object)
		if len(c.added) > 0 && c.isNew(object) {
			added = append(added, object)
		}
	}
	c.at, c.version = len(c.record.changes), version
	err := c.informer.GetIndexer().Replace(objects, versionString(version))
	for _, object := range added {
		c.tell(object)
	}
	return err
}

// view returns the objects that it holds by keyOf.
func (c *replica) view() map[string]Object {
	list := c.informer.GetIndexer().List()
	objects := make(map[string]Object, len(list))
	for _, each := range list {
		object := each.(Object)
		objects[keyOfObject(object)] = object
	}
	return objects
}
