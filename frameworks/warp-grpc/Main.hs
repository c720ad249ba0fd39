{-# LANGUAGE OverloadedStrings #-}

-- | benchmark.BenchmarkService on Warp: h2c on port 8080, TLS on port 8443.
module Main (main) where

import Control.Concurrent (forkIO, threadDelay)
import Control.Concurrent.Async (concurrently_)
import Control.Concurrent.MVar (newEmptyMVar, readMVar, tryPutMVar)
import Control.Exception (ErrorCall (ErrorCall), SomeException, displayException, handle, throwIO)
import Control.Monad (forM_, void, when)
import Data.Streaming.Network (bindPortTCP)
import Data.X509 (CertificateChain (CertificateChain))
import Grpc (grpc)
import Network.Socket (Socket, close)
import Network.TLS (Version (TLS12, TLS13), credentialLoadX509)
import Network.Wai (Application)
import Network.Wai.Handler.Warp
import Network.Wai.Handler.WarpTLS (TLSSettings (tlsAllowedVersions), runTLSSocket, tlsSettings)
import Service (service)
import System.Environment (lookupEnv)
import System.Exit (ExitCode (ExitSuccess), exitFailure)
import System.IO (hPutStrLn, stderr)
import System.IO.Error (ioeSetLocation, modifyIOError)
import System.Posix.Process (exitImmediately)
import System.Posix.Signals (Handler (Catch), installHandler, sigINT, sigTERM)

-- | Connections still open so many microseconds after SIGTERM are broken off.
stopGrace :: Int
stopGrace = 1000000

main :: IO ()
main = handle complain $ do
  cert <- env "TLS_CERT" "/certs/server.crt"
  key <- env "TLS_KEY" "/certs/server.key"
  check cert key
  h2c <- listen =<< env "PORT_H2C" "8080"
  tls <- listen =<< env "PORT_TLS" "8443"
  stop <- newEmptyMVar
  forM_ [sigTERM, sigINT] $ \signal ->
    installHandler signal (Catch (void (tryPutMVar stop ()))) Nothing
  _ <- forkIO $ do
    readMVar stop
    mapM_ close [h2c, tls] -- Warp ends with its last connection
    threadDelay stopGrace
    exitImmediately ExitSuccess
  concurrently_
    (runSettingsSocket settings h2c application)
    (runTLSSocket (tlsSettings cert key) {tlsAllowedVersions = [TLS13, TLS12]} settings tls application)

-- | Says nothing of clients that break off.
settings :: Settings
settings = setOnException (\_ _ -> pure ()) defaultSettings

application :: Application
application = grpc service

-- | Warp would start without a certificate, and no handshake would succeed.
check :: FilePath -> FilePath -> IO ()
check cert key = credentialLoadX509 cert key >>= either (refuse . ((key <> ": ") <>)) isThere
  where
    isThere (CertificateChain chain, _) = when (null chain) (refuse (cert <> ": no certificate in it"))
    refuse = throwIO . ErrorCall

-- | On all addresses, IPv6 and IPv4.
listen :: String -> IO Socket
listen port = modifyIOError (`ioeSetLocation` ("port " <> port)) (bindPortTCP (read port) "*6")

env :: String -> String -> IO String
env name fallback = maybe fallback (\value -> if null value then fallback else value) <$> lookupEnv name

-- | The first line is what to know; a stack may follow.
complain :: SomeException -> IO ()
complain exception = do
  hPutStrLn stderr ("warp-grpc: " <> takeWhile (/= '\n') (displayException exception))
  exitFailure
