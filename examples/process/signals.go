package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
)

// SignalContext returns a context that ends with the first SIGTERM or SIGINT.
// The second one ends the process.
func SignalContext() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		if first, open := <-signals; open {
			klog.Background().Info("Ending", "signal", first.String())
			cancel()
		}
		if _, open := <-signals; open {
			klog.Flush()
			os.Exit(1)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}
