// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is the body of the answer to a watch. Reading it takes events from
// the history and waits when there is none; no goroutine works for it.
type stream struct {
	server    *Server
	storage   *storage
	selects   func(*unstructured.Unstructured) bool
	bookmarks bool
	media     media
	position  int // in the history
	buffer    bytes.Buffer
	ended     bool  // an end in good order, once the buffer is empty
	err       error // the client has gone
	stop      func() bool
}

// watch begins a watch where the request says: after a resourceVersion, or
// with the present state.
func (s *Server) watch(ctx context.Context, req *Request) (io.ReadCloser, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	selects, err := selection(req)
	if err != nil {
		return nil, err
	}
	h := &req.storage.history
	w := &stream{
		server: s, storage: req.storage, selects: selects, position: h.end(),
		bookmarks: req.query.Get("allowWatchBookmarks") == "true", media: req.media,
	}
	initial := req.query.Get("sendInitialEvents") == "true"
	if initial && req.query.Get("resourceVersionMatch") != string(metav1.ResourceVersionMatchNotOlderThan) {
		return nil, badRequest(errors.New("sendInitialEvents needs resourceVersionMatch=NotOlderThan"))
	}
	version := req.query.Get("resourceVersion")
	if initial || version == "" || version == "0" {
		w.sendState(initial)
	} else if err := w.resume(h, version); err != nil {
		return nil, err
	}
	h.watches = append(h.watches, w)
	w.stop = context.AfterFunc(ctx, func() { w.leave(context.Cause(ctx)) })
	return w, nil
}

func (w *stream) resume(h *history, version string) error {
	since, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return badRequest(err)
	}
	if since < h.compacted {
		return expired(version)
	}
	w.position = h.since(since)
	return nil
}

// sendState sends all objects as they are now, and a bookmark that says that
// these were all.
func (w *stream) sendState(bookmark bool) {
	for _, object := range w.storage.sorted() {
		if w.selects(object) {
			w.send(watch.Added, object)
		}
	}
	if bookmark {
		w.sendBookmark(w.server.version, map[string]any{metav1.InitialEventsAnnotationKey: "true"})
	}
}

// Read returns what there is to tell, and waits until there is something.
func (w *stream) Read(p []byte) (int, error) {
	w.server.lock.Lock()
	defer w.server.lock.Unlock()
	for w.buffer.Len() == 0 {
		switch {
		case w.err != nil:
			return 0, w.err
		case w.ended:
			return 0, io.EOF
		case !w.next():
			w.server.changed.Wait()
		}
	}
	return w.buffer.Read(p)
}

// next takes an event from the history; it returns false if there is none.
func (w *stream) next() bool {
	h := &w.storage.history
	if w.position < h.forgotten {
		status := expired("of this watch").(apierrors.APIStatus).Status()
		w.send(watch.Error, status)
		w.ended = true
		return true
	}
	if w.position >= h.end() || h.held(w.position) {
		return false
	}
	e := &h.events[w.position-h.forgotten]
	w.position++
	was, is := w.selects(e.before), w.selects(e.after)
	switch {
	case e.last == nil:
		if w.bookmarks {
			w.sendBookmark(e.version, nil)
		}
	case is && !was:
		w.send(watch.Added, e.last)
	case is:
		w.send(watch.Modified, e.last)
	case was:
		w.send(watch.Deleted, e.last)
	}
	return true
}

func (w *stream) sendBookmark(version int64, annotations map[string]any) {
	meta := map[string]any{"resourceVersion": strconv.FormatInt(version, 10)}
	if annotations != nil {
		meta["annotations"] = annotations
	}
	bookmark := map[string]any{"kind": w.storage.Kind, "apiVersion": w.storage.GroupVersion().String(), "metadata": meta}
	if w.media.metadata {
		bookmark = onlyMetadata(bookmark)
	}
	w.send(watch.Bookmark, bookmark)
}

func (w *stream) send(kind watch.EventType, object any) {
	data, err := w.media.shown(object)
	if err == nil {
		data, err = w.media.event(kind, data)
	}
	if err != nil {
		w.err = err
		return
	}
	w.buffer.Write(data)
}

// Close ends the watch for the client.
func (w *stream) Close() error {
	w.stop()
	w.leave(io.ErrClosedPipe)
	return nil
}

func (w *stream) leave(err error) {
	s := w.server
	s.lock.Lock()
	defer s.lock.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.buffer.Reset()
	h := &w.storage.history
	h.watches = slices.DeleteFunc(h.watches, func(other *stream) bool { return other == w })
	s.changed.Broadcast()
}
