package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Main is the whole command: it reads the arguments, which do not include the
// name of the program, and runs a manager until SIGTERM or SIGINT. A second
// signal ends the process at once. It returns the exit code: 0 after an orderly
// end, 1 after a failure, 2 for a wrong command line.
//
// It sets what belongs to a process as a whole, signals and the log among them;
// a program that has its own idea of them calls Run.
func Main(arguments []string) int {
	command, err := parse(arguments, os.Getenv, func(text string) { fmt.Fprint(os.Stdout, text) })
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "podwright-manager: wrong command line:\n%v\n", err)
		return 2
	case command.Version:
		fmt.Println(version())
		return 0
	}
	flush, err := setUpLogging(command, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "podwright-manager: %v\n", err)
		return 1
	}
	defer flush()

	ctx, stop := signalContext()
	defer stop()
	logger := klog.Background()
	logger.Info("Starting", "version", version())
	for _, ignored := range command.Ignored {
		logger.Info("Flag without effect", "flag", ignored)
	}
	if err := Run(klog.NewContext(ctx, logger), command.Config); err != nil {
		logger.Error(err, "Ended with a failure")
		return 1
	}
	logger.Info("Ended in order")
	return 0
}

// signalContext returns a context that ends with the first signal. The second
// one ends the process.
func signalContext() (context.Context, func()) {
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

// version names what was built.
func version() string {
	text := "podwright-manager (unknown)"
	if build, ok := debug.ReadBuildInfo(); ok {
		text = "podwright-manager " + build.Main.Version
		for _, setting := range build.Settings {
			if setting.Key == "vcs.revision" {
				text += " " + setting.Value
			}
		}
	}
	return text + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
