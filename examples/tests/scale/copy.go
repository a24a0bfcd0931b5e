// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// etcd writes past the API server, which learns of it by its watches.
type etcd struct{ *clientv3.Client }

// batch is how many objects one transaction writes; etcd takes 128.
const batch = 100

func dial(dir string) (*etcd, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + filepath.Join(dir, "localhost:2379")}})
	if err != nil {
		return nil, err
	}
	return &etcd{client}, nil
}

// entry is an object as etcd has it.
type entry struct {
	key   string
	value []byte
}

// read returns the objects whose keys have a part.
func (e *etcd) read(ctx context.Context, part string) (found []entry, err error) {
	all, err := e.Get(ctx, "/registry/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	for _, kv := range all.Kvs {
		if strings.Contains(string(kv.Key), part) {
			found = append(found, entry{string(kv.Key), kv.Value})
		}
	}
	return found, nil
}

// write puts objects, many at once.
func (e *etcd) write(ctx context.Context, all []entry) error {
	for len(all) > 0 {
		n := min(batch, len(all))
		puts := make([]clientv3.Op, 0, n)
		for _, entry := range all[:n] {
			puts = append(puts, clientv3.OpPut(entry.key, string(entry.value)))
		}
		if _, err := e.Txn(ctx).Then(puts...).Commit(); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// stored is how the API server stores Kubernetes' own kinds; custom resources are stored as JSON.
var stored = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// text returns an object as JSON.
func (e entry) text() ([]byte, error) {
	if e.value[0] == '{' {
		return e.value, nil
	}
	object, kind, err := stored.Decode(e.value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.key, err)
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return json.Marshal(object)
}

// encode is the opposite of text. Pods go to a node that is asked for.
func (e entry) encode(key string, text []byte, node func() string) (entry, error) {
	if e.value[0] == '{' {
		return entry{key, text}, nil
	}
	object, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
	if err != nil {
		return entry{}, fmt.Errorf("%s: %w", key, err)
	}
	if pod, is := object.(*corev1.Pod); is && node != nil && pod.Spec.NodeSelector == nil {
		pod.Spec.NodeName = node()
	}
	var out bytes.Buffer
	err = stored.Encode(object, &out)
	return entry{key, out.Bytes()}, err
}

// uids finds the UIDs in an object.
var uids = regexp.MustCompile(`"uid":"[0-9a-f]{8}-`)

// ownUID finds the UID of a pod itself, and not that of its owner.
func ownUID(pod *corev1.Pod) *regexp.Regexp {
	return regexp.MustCompile(`"uid":"` + string(pod.UID[:8]) + `-`)
}

// replacement says how a copy differs.
type replacement struct {
	number int            // it stands in the UIDs of the copy, so that objects which refer to one another still do
	uids   *regexp.Regexp // which of them
	words  []string       // in key and text: old, new, old, new
	node   func() string  // the node of pods that no selector holds elsewhere; nil: the one that they have
}

// copyOf returns an object with what is replaced.
func (e entry) copyOf(r replacement) (entry, error) {
	text, err := e.text()
	if err != nil {
		return entry{}, err
	}
	other := strings.NewReplacer(r.words...)
	text = r.uids.ReplaceAll([]byte(other.Replace(string(text))), fmt.Appendf(nil, `"uid":"%08x-`, r.number))
	return e.encode(other.Replace(e.key), text, r.node)
}
